#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "jobs/base/files.hpp"
#include "runner/device/backend.hpp"
#include "runner/device/command/process.hpp"

namespace nkigrid::device {

/// One verify program at work on one artifact, asked once a run. Its folder holds the artifact, and for the time of a
/// run its inputs and its poisoned outputs; expected outputs never reach it.
class CommandSession final : public Session {
 public:
  /// @throws Error{io} when the folder or the program cannot be made
  CommandSession(const jobs::CommandSpec& spec, const jobs::NkiOptions& options, const std::filesystem::path& keeper,
                 const jobs::Task& task, const Artifact& artifact);

  RunOutcome run(const TensorFile& arguments, std::size_t slot, const Poison& poison, Seconds timeout) override;
  std::span<const std::byte> output(std::size_t slot, std::size_t output) const override {
    return slots_.at(slot).at(output);
  }

 private:
  using Names = std::vector<std::filesystem::path>;

  std::string wait_ready();
  RunOutcome execute(const TensorFile& arguments, std::size_t slot, const Poison& poison, Seconds timeout);
  std::string request(const TensorFile& arguments, const Poison& poison, Seconds timeout, const Names& outputs);
  RunOutcome believed(const std::string& line, std::size_t slot, const Poison& poison, const Names& outputs);
  RunReport report_of(std::size_t slot, const Poison& poison, const Names& outputs, std::vector<std::string> hints);
  RunOutcome ended();
  std::string in_words(std::string_view what) const;

  const jobs::CommandSpec& spec_;
  const jobs::NkiOptions& options_;
  jobs::Task task_;
  TemporaryDirectory scratch_{"nkigrid-command"};
  std::string entry_;
  std::array<std::vector<std::vector<std::byte>>, kSlots> slots_;  // {slot, output}
  std::unique_ptr<CommandProcess> process_;
  std::uint32_t runs_ = 0;
};

}  // namespace nkigrid::device
