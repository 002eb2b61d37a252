#include "runner/device/neuron/backend.hpp"

#include <chrono>
#include <cmath>
#include <mutex>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"
#include "runner/device/check/canary.hpp"
#include "runner/device/neuron/compiler.hpp"
#include "runner/device/neuron/cores.hpp"
#include "runner/device/neuron/node.hpp"
#include "runner/device/neuron/session.hpp"
#include "runner/device/shared/output_memory.hpp"
#include "runner/proc/child.hpp"

namespace nkigrid::device {
namespace {

namespace fs = std::filesystem;

constexpr double kLacksSeconds = 30;

/// What `strict` needs is asked of the program that puts up the walls.
void require_walls(const fs::path& confine, bool strict) {
  if (!strict) return;
  const auto result = proc::run_command({confine, "--lacks"}, Seconds(kLacksSeconds), {});
  auto lacks = result.out;
  while (!lacks.empty() && lacks.back() == '\n') lacks.pop_back();
  for (auto& c : lacks) c = c == '\n' ? ';' : c;
  if (proc::is_success(result.end) && lacks.empty()) return;
  throw Error(ErrorCode::config, fmt::format("the strict sandbox around the Neuron compiler cannot be had on this "
                                             "machine (it lacks {}); use a kernel that has it, or say "
                                             "'sandbox: relaxed' under check to run kernels with what there is",
                                             lacks.empty() ? proc::describe(result.end) : lacks));
}

std::vector<std::uint32_t> cores_or_refuse(const NeuronDevices& devices) {
  if (!devices.cores.empty()) return devices.cores;
  throw Error(ErrorCode::external,
              "no NeuronCore on this machine (neuron-ls, the instance type and /dev/neuron* show none), and kernels "
              "cannot be verified without; "
              "run on a Trn1 node with the driver loaded, list device.cores, or use backend sim");
}

NeuronChild::Spec runner_spec(const fs::path& libexec, const fs::path& libnrt, const NeuronCompiler& compiler,
                              const NeuronDevices& devices, const jobs::CheckSpec& check) {
  NeuronChild::Spec spec{libexec / "nkigrid_confine",        check.strict_sandbox, {}, devices.nodes, {},
                         neuron_environment(compiler.python)};
  const auto program = libexec / "nkigrid_nrt_run";
  spec.readable = {libexec, libnrt, libnrt.parent_path(), fs::canonical(libnrt).parent_path()};
  spec.argv = {program, libnrt};
  spec.environment.push_back("LD_LIBRARY_PATH=" + libnrt.parent_path().native());
  spec.environment.push_back(fmt::format("NEURON_RT_EXEC_TIMEOUT={:.0f}", std::ceil(check.run_timeout.count())));
  spec.environment.emplace_back("NEURON_RT_LOG_LEVEL=ERROR");
  return spec;
}

/// How long the compiler takes to be imported, which no time-out of a kernel holds, and to compile something small.
std::string time_compiler(const jobs::NeuronSpec& spec, const BackendSetup& setup, const NeuronCompiler& compiler) {
  KernelToNeff to_neff(spec, setup, compiler);
  const auto start = std::chrono::steady_clock::now();
  const auto result = to_neff.compile(canary_task(), canary_source(), std::nullopt, setup.check.compile_timeout).result;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (!result.ok())
    throw Error(ErrorCode::external, fmt::format("the compiler of '{}' does not compile the canary kernel: {}",
                                                 compiler.python.native(), result.diagnostic.message));
  return fmt::format("imported in {:.1f} s, then the canary kernel in {:.1f} s", to_neff.import_seconds(),
                     took.count() - to_neff.import_seconds());
}

class NeuronBackend final : public Backend {
 public:
  NeuronBackend(const jobs::NeuronSpec& spec, const BackendSetup& setup, const NeuronCompiler& compiler,
                const fs::path& libnrt, const NeuronDevices& devices)
      : compiler_name_("neuronx-cc " + compiler.version),
        to_neff_(spec, setup, compiler),
        runner_(runner_spec(setup.paths.libexec, libnrt, compiler, devices, setup.check)),
        cores_(cores_folder(), cores_or_refuse(devices), [this](std::uint32_t core) { return prove(core); }) {}

  CompileAttempt compile(const jobs::Task& task, const std::string& source, const std::optional<std::string>& entry,
                         Seconds timeout) override {
    auto attempt = to_neff_.compile(task, source, entry, timeout);
    if (attempt.result.ok() && task.id == canary_task().id) keep_canary(attempt.result.artifact);
    return attempt;
  }

  std::unique_ptr<Session> open(const jobs::Task& task, const Artifact& artifact) override {
    return std::make_unique<NeuronSession>(runner_, pool_, cores_.lease(), task, artifact.bytes);
  }

  bool may_be_at_fault() const override { return true; }
  bool is_hardware() const override { return true; }
  std::string name() const override { return "neuron"; }
  std::string compiler() const override { return compiler_name_; }

 private:
  void keep_canary(std::shared_ptr<const Artifact> artifact) {
    const std::lock_guard lock(mutex_);
    canary_ = std::move(artifact);
  }

  std::shared_ptr<const Artifact> canary() {
    {
      const std::lock_guard lock(mutex_);
      if (canary_) return canary_;
    }
    const auto compiled = compile_canary(*this);  // which keeps it
    if (!compiled.ok())
      throw Error(ErrorCode::external,
                  fmt::format("the canary kernel does not compile: {}", compiled.diagnostic.message));
    return compiled.artifact;
  }

  /// The canary on one core, which the caller has leased.
  std::string prove(std::uint32_t core) {
    NeuronSession session(runner_, pool_, CoreLease(core, Fd()), canary_task(), canary()->bytes);
    return canary_failure_in(session);
  }

  std::string compiler_name_;
  KernelToNeff to_neff_;
  NeuronChild::Spec runner_;
  OutputPool pool_;
  std::mutex mutex_;
  std::shared_ptr<const Artifact> canary_;  // guarded by mutex_
  CorePool cores_;
};

}  // namespace

std::unique_ptr<Backend> make_backend(const jobs::NeuronSpec& spec, const BackendSetup& setup,
                                      std::shared_ptr<BackendServers>, const NeuronRoots& roots) {
  const auto compiler = find_neuron_compiler(spec, setup.options.sdk, setup.paths.libexec, roots);
  const auto devices = find_neuron_devices(spec, setup.options.target, roots);
  static_cast<void>(cores_or_refuse(devices));
  const auto libnrt = find_libnrt(spec, roots);
  require_walls(setup.paths.libexec / "nkigrid_confine", setup.check.strict_sandbox);
  return std::make_unique<NeuronBackend>(spec, setup, compiler, libnrt, devices);
}

std::string describe_parts(const jobs::NeuronSpec& spec, const BackendSetup& setup, const NeuronRoots& roots) {
  std::vector<std::string> findings;
  bool whole = true;
  const auto look = [&](const auto& part) {
    try {
      findings.push_back(part());
    } catch (const std::exception& error) {
      findings.emplace_back(error.what());
      whole = false;
    }
  };
  look([&] {
    const auto compiler = find_neuron_compiler(spec, setup.options.sdk, setup.paths.libexec, roots);
    return fmt::format("neuronx-cc {} (SDK {}) of {}, {}", compiler.version, compiler.sdk, compiler.python.native(),
                       time_compiler(spec, setup, compiler));
  });
  look([&] { return "runtime " + find_libnrt(spec, roots).native(); });
  look([&] {
    const auto devices = find_neuron_devices(spec, setup.options.target, roots);
    const auto cores = cores_or_refuse(devices).size();
    return fmt::format("{} NeuronCores by {}", cores, devices.how);
  });
  auto text = fmt::format("{}", fmt::join(findings, "; "));
  if (!whole) throw Error(ErrorCode::external, std::move(text));
  return text;
}

}  // namespace nkigrid::device
