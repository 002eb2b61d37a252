#include "runner/device/command/session.hpp"

#include <algorithm>
#include <span>
#include <variant>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "runner/device/command/files.hpp"
#include "runner/device/command/reply.hpp"
#include "runner/device/shared/poison.hpp"

namespace nkigrid::device {
namespace {

namespace fs = std::filesystem;
using Got = CommandProcess::Got;
using Then = CommandProcess::Then;

// A runtime may be slow to start; that is not the kernel's time.
constexpr double kReadySeconds = 120;
constexpr std::size_t kAlignment = 64;  // of each input in its file [B]

std::span<const std::byte> bytes_of_text(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

RunOutcome machinery(std::string words) { return run_ended(RunOutcome::Kind::machinery, std::move(words)); }

/// Files of one run: gone when it is over, so that nothing of a trial is there in the next.
class RunFiles {
 public:
  explicit RunFiles(std::vector<fs::path> paths) : paths_(std::move(paths)) {}
  ~RunFiles() {
    std::error_code ignored;
    for (const auto& path : paths_) fs::remove_all(path, ignored);
  }
  RunFiles(const RunFiles&) = delete;
  RunFiles& operator=(const RunFiles&) = delete;

 private:
  std::vector<fs::path> paths_;
};

}  // namespace

CommandSession::CommandSession(const jobs::CommandSpec& spec, const jobs::NkiOptions& options, const fs::path& keeper,
                               const jobs::Task& task, const Artifact& artifact)
    : spec_(spec), options_(options), task_(task), entry_(artifact.entry) {
  write_private(scratch_.path() / "artifact", bytes_of_text(artifact.bytes));
  for (auto& slot : slots_) {
    for (const auto& output : task_.outputs) slot.emplace_back(device::bytes_of(output));
  }
  process_ = std::make_unique<CommandProcess>(
      CommandProcess::Spec{keeper, spec.verify, scratch_.path(), command_environment(scratch_.path())});
}

std::string CommandSession::in_words(std::string_view what) const {
  return process_->describe("verify program", spec_.name, what);
}

RunOutcome CommandSession::ended() {
  const auto end = process_->stop();
  return run_ended(RunOutcome::Kind::crashed, in_words(proc::describe(end)));
}

RunOutcome CommandSession::run(const TensorFile& arguments, std::size_t slot, const Poison& poison, Seconds timeout) {
  RunOutcome outcome;
  try {
    outcome = execute(arguments, slot, poison, timeout);
  } catch (const std::exception& error) {
    outcome = machinery(in_words(error.what()));
  }
  // After anything but `ran` nobody asks it again: what still runs must not keep a core.
  try {
    if (outcome.kind != RunOutcome::Kind::ran) process_->stop();
  } catch (const std::exception& error) {
    outcome = machinery(error.what());
  }
  return outcome;
}

/// What its first line says, or its absence. @returns why it cannot be asked, "" when it is ready
std::string CommandSession::wait_ready() {
  const auto ready = process_->ask("", Then::more, proc::deadline_after(kReadySeconds));
  switch (ready.got) {
    case Got::late:
      return fmt::format("did not get ready within {:.0f} s", kReadySeconds);
    case Got::flood:
      return "said too much before it was ready";
    case Got::ended:
      return fmt::format("{} before it was ready", proc::describe(process_->stop()));
    case Got::line:
      break;
  }
  const auto said = parse_command_reply(ready.line, CommandStep::run);
  return said.ok ? std::string() : fmt::format("says that it is not ready: {}", said.diagnostic.message);
}

RunOutcome CommandSession::execute(const TensorFile& arguments, std::size_t slot, const Poison& poison,
                                   Seconds timeout) {
  if (runs_++ == 0) {
    if (const auto why = wait_ready(); !why.empty()) return machinery(in_words(why));
  }
  std::vector<fs::path> outputs;
  for (std::size_t i = 0; i < task_.outputs.size(); ++i)
    outputs.push_back(scratch_.path() / fmt::format("run{}.output{}", runs_, i));
  auto files = outputs;
  files.push_back(scratch_.path() / fmt::format("run{}.inputs", runs_));
  const RunFiles kept(std::move(files));
  const auto line = request(arguments, poison, timeout, outputs);
  const auto answer = process_->ask(line, Then::more, proc::deadline_after(timeout.count()));
  switch (answer.got) {
    case Got::late:
      return run_ended(RunOutcome::Kind::late);
    case Got::ended:
      return ended();
    case Got::flood:
      return machinery(in_words("answered more than one line, or more than a line may hold"));
    case Got::line:
      break;
  }
  return believed(answer.line, slot, poison, outputs);
}

std::string CommandSession::request(const TensorFile& arguments, const Poison& poison, Seconds timeout,
                                    const Names& outputs) {
  std::vector<std::byte> bytes;
  std::vector<RunInput> places;
  for (std::size_t i = 0; i < arguments.tensors.size(); ++i) {
    bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
    const auto tensor = arguments.bytes_of(i);
    places.push_back({bytes.size(), tensor.size()});
    bytes.insert(bytes.end(), tensor.begin(), tensor.end());
  }
  const auto inputs = scratch_.path() / fmt::format("run{}.inputs", runs_);
  write_private(inputs, bytes);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& spec = task_.outputs[i];
    write_private(outputs[i], poisoned(spec.dtype, device::bytes_of(spec), poison));
  }
  return to_line(RunRequest{options_, task_, scratch_.path(), scratch_.path() / "artifact", inputs, entry_,
                            std::move(places), outputs, timeout, poison});
}

RunOutcome CommandSession::believed(const std::string& line, std::size_t slot, const Poison& poison,
                                    const Names& outputs) {
  CommandReply reply;
  try {
    reply = parse_command_reply(line, CommandStep::run);
  } catch (const Error&) {
    // Half a line of a program that died is its death, not its answer.
    if (process_->has_ended() && !proc::is_success(process_->stop())) return ended();
    throw;
  }
  auto& why = reply.diagnostic;
  why.message = without_folder(std::move(why.message), scratch_.path());
  for (auto& hint : reply.hints) hint = without_folder(std::move(hint), scratch_.path());
  if (why.code == Code::infra)
    return machinery(in_words(fmt::format("reports a fault of the machine: {}", why.message)));
  if (why.code == Code::rule_violation) return run_ended(RunOutcome::Kind::denied, why.message);
  // The device may have been lost, and not by this kernel: tried again, then the canary decides.
  if (why.code == Code::runtime_device) return run_ended(RunOutcome::Kind::crashed, why.message);
  if (!reply.ok) return run_reported({why.code, why.line, why.message, std::move(reply.hints), {}});
  return run_reported(report_of(slot, poison, outputs, std::move(reply.hints)));
}

/// Reads what the program left in its output files.
RunReport CommandSession::report_of(std::size_t slot, const Poison& poison, const Names& outputs,
                                    std::vector<std::string> hints) {
  RunReport report;
  report.hints = std::move(hints);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    auto& bytes = slots_[slot][i];
    read_exactly(scratch_.path(), outputs[i], bytes);
    // In other dtypes what looks like the poison may be a value.
    const auto& dtype = task_.outputs[i].dtype;
    const auto unwritten = dtype == "float32" ? count_poison(dtype, bytes, poison) : 0;
    report.unwritten.push_back(unwritten);
    if (unwritten > 0)
      report.hints.push_back(fmt::format("output {}: {} of {} elements were never written", i, unwritten,
                                         bytes.size() / sizeof poison.nan_bits));
  }
  return report;
}

}  // namespace nkigrid::device
