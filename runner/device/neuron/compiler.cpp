#include "runner/device/neuron/compiler.hpp"

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/hash.hpp"
#include "runner/device/shared/compile_frames.hpp"
#include "runner/device/shared/limits.hpp"

namespace nkigrid::device {
namespace {

using nlohmann::json;

// A cold import of the vendor's package reads gigabytes of wheels; what takes longer than this is a broken disk.
constexpr double kMostImportSeconds = 600;

/// The kernel ran in the child and may have written anything to its socket.
std::optional<CompileReply> reply_in(proc::Frame frame) {
  try {
    return parse_compile_reply(std::move(frame));
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

/// What the child said: a NEFF counts when there is one, a code when it is a compiler's.
CompileAttempt attempt_of(proc::Frame frame, const std::string& source) {
  auto said = reply_in(std::move(frame));
  if (!said) {
    constexpr const char* kWords = "the compiler process answered with something that is no reply";
    return failed_compile(Code::compiler_internal, Stage::backend, kWords, kWords);
  }
  auto& reply = *said;
  CompileAttempt attempt;
  attempt.result.warnings = std::move(reply.warnings);
  attempt.result.estimate_us = std::numeric_limits<double>::quiet_NaN();
  if (reply.ok && !reply.artifact.empty()) {
    attempt.result.artifact = std::make_shared<const Artifact>(
        Artifact{std::move(reply.artifact), std::move(reply.entry), sha256_hex(source), 0});
    return attempt;
  }
  attempt.result.diagnostic = std::move(reply.diagnostic);
  if (attempt.result.diagnostic.code == Code::none)
    attempt.result.diagnostic = {Code::compiler_internal, Stage::backend, 0, "the compiler wrote an empty NEFF"};
  attempt.doubt = std::move(reply.doubt);
  return attempt;
}

}  // namespace

/// The right to compile now.
class KernelToNeff::Slot {
 public:
  explicit Slot(KernelToNeff& owner) : owner_(owner) {
    std::unique_lock lock(owner_.mutex_);
    owner_.freed_.wait(lock, [this] { return owner_.free_slots_ > 0; });
    --owner_.free_slots_;
  }
  ~Slot() {
    const std::lock_guard lock(owner_.mutex_);
    ++owner_.free_slots_;
    owner_.freed_.notify_one();
  }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

 private:
  KernelToNeff& owner_;
};

KernelToNeff::KernelToNeff(const jobs::NeuronSpec& spec, const BackendSetup& setup, NeuronCompiler compiler)
    : options_(setup.options),
      flags_(fmt::format("{}", fmt::join(spec.compiler_flags, " "))),
      strict_(setup.check.strict_sandbox),
      compiler_(std::move(compiler)),
      libexec_(setup.paths.libexec),
      entry_rules_(setup.paths.entry_rules),
      free_slots_(std::max(1U, std::thread::hardware_concurrency())) {}

CompileAttempt KernelToNeff::compile(const jobs::Task& task, const std::string& source,
                                     const std::optional<std::string>& entry, Seconds timeout) {
  const Slot slot(*this);
  try {
    for (int tries = 0; tries < 2; ++tries) {
      if (auto attempt = compile_in_child(task, source, entry, timeout)) return std::move(*attempt);
    }
    constexpr const char* kWords = "the compiler process was stopped by a signal, twice";
    return failed_compile(Code::compiler_internal, Stage::backend, kWords, kWords);
  } catch (const std::exception& error) {
    return failed_compile(Code::infra, Stage::infra, fmt::format("the compile child failed: {}", error.what()));
  }
}

double KernelToNeff::import_seconds() const {
  const std::lock_guard lock(mutex_);
  return import_seconds_;
}

NeuronChild::Spec KernelToNeff::child_spec() const {
  const auto script = libexec_ / "neuron_compile.py";
  NeuronChild::Spec spec{libexec_ / "nkigrid_confine",        strict_, compiler_.folders, {}, {},
                         neuron_environment(compiler_.python)};
  for (const auto& file : {script, libexec_ / "child_frame.py", libexec_ / "neuron_diagnose.py", entry_rules_})
    spec.readable.push_back(file);
  spec.argv = {compiler_.python, "-s", "-B", script, entry_rules_, "{scratch}", flags_};
  // fp32 stays fp32; nothing is shared with other attempts. NEURON_RT_VISIBLE_CORES is not there: no core is this
  // child's.
  spec.environment.push_back("NEURON_CC_FLAGS=--auto-cast=none" + (flags_.empty() ? "" : " " + flags_));
  spec.environment.emplace_back("NEURON_COMPILE_CACHE_URL={scratch}/cache");
  return spec;
}

/// Waits for the compiler's import. @returns what speaks against going on, "" when nothing does
std::string KernelToNeff::import_fault(NeuronChild& child) {
  const auto hello = proc::read_frame(child.work(), proc::deadline_after(kMostImportSeconds));
  if (hello.end == proc::ReadEnd::late)
    return fmt::format("the compiler's package was not imported within {:.0f} s", kMostImportSeconds);
  if (hello.end != proc::ReadEnd::frame) {
    const auto& end = child.finish(Seconds(kEndSeconds));
    return fmt::format("the compile child ended before it was ready: {}; it said: {}", end, child.last_words());
  }
  const auto said = json::parse(hello.frame.head);
  if (!said.at("imported").get<bool>())
    return "the compiler's package cannot be imported: " + said.at("why").get<std::string>();
  const std::lock_guard lock(mutex_);
  import_seconds_ = std::max(import_seconds_, said.at("seconds").get<double>());
  return {};
}

std::optional<CompileAttempt> KernelToNeff::compile_in_child(const jobs::Task& task, const std::string& source,
                                                             const std::optional<std::string>& entry, Seconds timeout) {
  NeuronChild child(child_spec());
  if (auto fault = import_fault(child); !fault.empty())
    return failed_compile(Code::infra, Stage::infra, std::move(fault));
  const auto deadline = proc::deadline_after(timeout.count());
  static_cast<void>(proc::write_frame(child.work(), compile_head(options_, task, entry), source, {},
                                      deadline));  // a child that is gone shows at the read
  // Said before the kernel's first line runs, so this may be believed.
  if (const auto ready = proc::read_frame(child.work(), deadline); ready.end == proc::ReadEnd::frame) {
    const auto words = json::parse(ready.frame.head);
    if (!words.at("ready").get<bool>())
      return failed_compile(
          Code::infra, Stage::infra,
          "the compiler cannot be given this task's arguments: " + words.at("why").get<std::string>());
  }
  auto reply = proc::read_frame(child.work(), deadline, kArtifactFrame);
  const auto& end = reply.end == proc::ReadEnd::closed ? child.finish(Seconds(kEndSeconds)) : child.kill();
  switch (reply.end) {
    case proc::ReadEnd::frame:
      return attempt_of(std::move(reply.frame), source);
    case proc::ReadEnd::late:
      return failed_compile(Code::compile_timeout, Stage::backend,
                            fmt::format("the kernel did not compile within {:.0f} s", timeout.count()));
    default:
      break;
  }
  if (child.was_stopped()) return std::nullopt;
  const auto words = fmt::format("the compiler process ended without an answer ({})", end);
  return failed_compile(Code::compiler_internal, Stage::backend, words, words);
}

}  // namespace nkigrid::device
