#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runner/device/backend.hpp"
#include "runner/device/sim/fork_servers.hpp"

namespace nkigrid::device {

/// Shared memory that outputs are written to, kept from check to check: fresh pages are what a small check would spend
/// its time on.
/// @threads safe
class OutputPool {
 public:
  struct Buffer {
    Fd fd;
    proc::Mapping mapping;
  };
  /// At least `size` bytes. Their content is left over from an earlier check; the engine poisons outputs before it
  /// starts.
  Buffer take(std::size_t size);
  /// @pre no child maps it any more
  void give_back(Buffer buffer);

 private:
  std::mutex mutex_;
  std::vector<Buffer> free_;
};

/// Where the outputs of one slot lie.
struct OutputLayout {
  std::vector<std::size_t> bytes;
  std::vector<std::size_t> offsets;
  std::size_t slot_bytes = 0;
};
OutputLayout layout_of(std::span<const std::size_t> output_bytes);

/// One single-use run child, which executes one program as often as asked.
class SimSession final : public Session {
 public:
  /// Sends the program. @throws ServerLost when there is no run server any more
  SimSession(ForkServers& servers, OutputPool& pool, const std::string& program, const OutputLayout& layout);
  ~SimSession() override;
  SimSession(const SimSession&) = delete;
  SimSession& operator=(const SimSession&) = delete;

  RunOutcome run(const TensorFile& arguments, std::size_t slot, const nkisim::Poison& poison, Seconds timeout) override;
  std::span<const std::byte> output(std::size_t slot, std::size_t output) const override;
  nkisim::Diagnosis diagnose(const TensorFile& arguments, Seconds timeout) override;
  std::optional<std::vector<nkisim::OrderFinding>> compare_orders(const TensorFile& arguments, std::uint64_t seed,
                                                                  Seconds timeout) override;

 private:
  /// One request and its answer. @param head members of the request's JSON beside the arguments, "{...}"
  /// @returns kind `ran` with the answer's JSON in `words`, or how the session ended
  RunOutcome ask(const std::string& head, const TensorFile& arguments, const nkisim::Poison& poison, Seconds timeout);
  RunOutcome ended();

  OutputPool& pool_;
  OutputLayout layout_;
  OutputPool::Buffer buffer_;
  proc::Job job_;
  bool over_ = false;  // the child has ended
  bool lost_ = false;  // nobody can say whether it has
};

}  // namespace nkigrid::device
