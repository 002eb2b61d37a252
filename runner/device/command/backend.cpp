#include "runner/device/command/backend.hpp"

#include <utility>
#include <variant>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/hash.hpp"
#include "runner/device/command/files.hpp"
#include "runner/device/command/process.hpp"
#include "runner/device/command/reply.hpp"
#include "runner/device/command/session.hpp"
#include "runner/device/shared/limits.hpp"
#include "runner/device/shared/stop_signals.hpp"

namespace nkigrid::device {
namespace {

namespace fs = std::filesystem;
using Got = CommandProcess::Got;

constexpr int kCompilersOwnFault = 70;  // what neuronx-cc exits with; nki facts of the kernel interface

/// One compile: a folder, a process, a reply.
class CommandCompile {
 public:
  CommandCompile(const jobs::CommandSpec& spec, const jobs::NkiOptions& options, const fs::path& keeper,
                 const jobs::Task& task, const std::string& source)
      : spec_(spec), options_(options), task_(task), source_(source) {
    write_private(scratch_.path() / "kernel.py", {reinterpret_cast<const std::byte*>(source.data()), source.size()});
    process_ = std::make_unique<CommandProcess>(
        CommandProcess::Spec{keeper, spec.compile, scratch_.path(), command_environment(scratch_.path())});
  }

  CompileAttempt attempt(const std::optional<std::string>& entry, Seconds timeout) {
    const auto deadline = proc::deadline_after(timeout.count());
    const auto answer = process_->ask(
        to_line(CompileRequest{options_, task_, scratch_.path(), scratch_.path() / "kernel.py", entry, timeout}),
        CommandProcess::Then::close, deadline);
    if (answer.got == Got::flood) return infra("answered more than a line may hold");
    if (answer.got == Got::late) return late(timeout);
    if (!process_->finish(deadline))
      return process_->has_ended() ? infra("answered more than one line") : late(timeout);
    const auto end = process_->stop();
    if (!proc::is_success(end)) return died(end);
    if (answer.got == Got::ended) return infra("ended without a reply");
    return believed(answer.line);
  }

 private:
  std::string in_words(std::string_view what) const { return process_->describe("compile program", spec_.name, what); }

  CompileAttempt infra(std::string_view what) const {
    return failed_compile(Code::infra, Stage::infra, in_words(what));
  }

  CompileAttempt late(Seconds timeout) const {
    return failed_compile(Code::compile_timeout, Stage::backend,
                          fmt::format("the kernel did not compile within {:.0f} s", timeout.count()),
                          in_words(fmt::format("did not answer within {:.0f} s", timeout.count())));
  }

  /// A crash, or a compiler's own exit 70, may be the kernel's doing: the canary decides. Any other failure is the
  /// program's own.
  CompileAttempt died(const proc::ChildEnd& end) const {
    const auto words = in_words(proc::describe(end));
    const auto* exited = std::get_if<proc::Exited>(&end);
    if (was_stopped(end) || (exited != nullptr && exited->status != kCompilersOwnFault))
      return failed_compile(Code::infra, Stage::infra, words);
    return failed_compile(Code::compiler_internal, Stage::backend, words, words);
  }

  CompileAttempt believed(const std::string& line) const {
    CompileAttempt attempt;
    auto& result = attempt.result;
    try {
      auto reply = parse_command_reply(line, CommandStep::compile);
      for (auto& warning : reply.warnings)
        result.warnings.push_back(without_folder(std::move(warning), scratch_.path()));
      if (!reply.ok) {
        result.diagnostic = std::move(reply.diagnostic);
        result.diagnostic.message = without_folder(std::move(result.diagnostic.message), scratch_.path());
        return attempt;
      }
      result.estimate_us = reply.estimate_us;
      result.artifact =
          std::make_shared<const Artifact>(Artifact{read_plain(scratch_.path(), reply.artifact, kMostArtifactBytes),
                                                    reply.entry, sha256_hex(source_), reply.constant_bytes});
    } catch (const Error& error) {
      return infra(error.what());
    }
    return attempt;
  }

  const jobs::CommandSpec& spec_;
  const jobs::NkiOptions& options_;
  const jobs::Task& task_;
  const std::string& source_;
  TemporaryDirectory scratch_{"nkigrid-command"};
  std::unique_ptr<CommandProcess> process_;
};

class CommandBackend final : public Backend {
 public:
  CommandBackend(jobs::CommandSpec spec, jobs::NkiOptions options, fs::path keeper)
      : spec_(std::move(spec)), options_(std::move(options)), keeper_(std::move(keeper)) {}

  CompileAttempt compile(const jobs::Task& task, const std::string& source, const std::optional<std::string>& entry,
                         Seconds timeout) override {
    try {
      return CommandCompile(spec_, options_, keeper_, task, source).attempt(entry, timeout);
    } catch (const Error& error) {
      return failed_compile(Code::infra, Stage::infra, fmt::format("a compile could not be made: {}", error.what()));
    }
  }

  std::unique_ptr<Session> open(const jobs::Task& task, const Artifact& artifact) override {
    return std::make_unique<CommandSession>(spec_, options_, keeper_, task, artifact);
  }

  bool may_be_at_fault() const override { return true; }
  bool is_hardware() const override { return true; }
  std::string name() const override { return "command"; }
  std::string compiler() const override { return spec_.name; }

 private:
  jobs::CommandSpec spec_;
  jobs::NkiOptions options_;
  fs::path keeper_;
};

}  // namespace

std::unique_ptr<Backend> make_backend(const jobs::CommandSpec& spec, const BackendSetup& setup,
                                      std::shared_ptr<BackendServers>) {
  if (spec.compile.empty() || spec.verify.empty()) {
    throw Error(
        ErrorCode::config,
        "backend command needs the programs of a site; name a grid that has them (`kernel --device-grid GRID`)");
  }
  const auto keeper = setup.paths.libexec / "nkigrid_confine";
  std::error_code ignored;
  if (!fs::exists(keeper, ignored)) {
    throw Error(
        ErrorCode::config,
        fmt::format("the helper program '{}' is not there; build or install the whole project", keeper.native()));
  }
  return std::make_unique<CommandBackend>(spec, setup.options, keeper);
}

}  // namespace nkigrid::device
