#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runner/device/backend.hpp"
#include "runner/device/shared/output_memory.hpp"
#include "runner/device/shared/run_frames.hpp"
#include "runner/device/sim/fork_servers.hpp"

namespace nkigrid::device {

/// One single-use run child, which executes one program as often as asked.
class SimSession final : public Session {
 public:
  /// Sends the program. @throws DeviceLost when there is no run server any more
  SimSession(ForkServers& servers, OutputPool& pool, const jobs::Task& task, const std::string& program);
  ~SimSession() override;
  SimSession(const SimSession&) = delete;
  SimSession& operator=(const SimSession&) = delete;

  RunOutcome run(const TensorFile& arguments, std::size_t slot, const Poison& poison, Seconds timeout) override;
  void expect(const TensorFile& arguments, std::size_t slot, const Poison& poison) override;
  std::span<const std::byte> output(std::size_t slot, std::size_t output) const override {
    return memory_.output(slot, output);
  }
  Explanation explain(const TensorFile& arguments, Seconds timeout) override;
  std::optional<std::vector<std::string>> compare_orders(const TensorFile& arguments, std::uint64_t seed,
                                                         Seconds timeout) override;

 private:
  void send(const RunQuestion& question, const TensorFile& arguments, const Poison& poison, proc::Deadline deadline);
  /// One request, unless it was sent already, and its answer. @returns kind `ran` with the answer's JSON in `words`, or
  /// how the session ended
  RunOutcome ask(const RunQuestion& question, const TensorFile& arguments, const Poison& poison, Seconds timeout);
  RunOutcome ended();

  KeptServer& server_;
  pid_t server_pid_;
  OutputMemory memory_;  // before the job: it is given back when the child has ended
  proc::Job job_;
  std::size_t expected_ = 0;  // runs that the child was told of and that nobody has asked for yet
  bool over_ = false;         // the child has ended
};

}  // namespace nkigrid::device
