#include "runner/device/device.hpp"

#include <chrono>
#include <utility>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/hash.hpp"
#include "runner/device/canary.hpp"
#include "runner/device/checker.hpp"
#include "runner/device/compile_cache.hpp"
#include "runner/device/compiler.hpp"
#include "runner/device/fork_servers.hpp"
#include "runner/device/reference.hpp"
#include "runner/device/run_client.hpp"

namespace nkigrid::device {
namespace {

constexpr std::size_t kCompileResultsKept = 4096;

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The CPU simulator behind the port.
class SimDevice final : public Device {
 public:
  SimDevice(jobs::DeviceSpec spec, jobs::CheckSpec check, std::uint64_t run_seed, std::shared_ptr<ForkServers> servers, const DevicePaths& paths)
      : spec_(std::move(spec)),
        check_(check),
        servers_(std::move(servers)),
        references_(paths.reference_worker, paths.cache, run_seed),
        canary_(*servers_, pool_, spec_),
        compiled_(kCompileResultsKept) {
    servers_->wait_ready();
    if (const auto why = canary_.failure(); !why.empty()) {
      throw Error(ErrorCode::external, fmt::format("the simulator's canary kernel fails on this machine: {}", why));
    }
  }

  CompileResult compile(const jobs::Task& task, const std::string& source, const std::optional<std::string>& entry) override {
    const auto start = std::chrono::steady_clock::now();
    const auto key = Sha256().field(source).field(entry ? "entry" : "").field(entry.value_or("")).field(task.hash).field(task.id).hex();
    auto result = compiled_.get(key, [&] { return compile_for_simulator(*servers_, canary_, spec_, task, source, entry, check_.compile_timeout); });
    result.seconds = since(start);
    return result;
  }

  VerifyResult verify(const jobs::Task& task, const Artifact& artifact, Stream stream, std::uint32_t trials) override {
    return check(task, artifact, stream, trials, CheckKind::tool);
  }

  VerifyResult final_check(const jobs::Task& task, const Artifact& artifact) override {
    return check(task, artifact, Stream::final_check, check_.trials, CheckKind::final_);
  }

  std::string backend() const override { return "sim"; }
  std::string compiler() const override { return spec_.sdk + "+nkisim"; }

 private:
  VerifyResult check(const jobs::Task& task, const Artifact& artifact, Stream stream, std::uint32_t trials, CheckKind kind) {
    const auto start = std::chrono::steady_clock::now();
    auto result = check_artifact({*servers_, pool_, references_, canary_, check_}, task, artifact, stream, trials, kind);
    result.seconds = since(start);
    return result;
  }

  jobs::DeviceSpec spec_;
  jobs::CheckSpec check_;
  std::shared_ptr<ForkServers> servers_;
  OutputPool pool_;
  ReferenceCache references_;
  Canary canary_;
  CompileCache compiled_;
};

}  // namespace

std::string_view to_string(Stream stream) noexcept {
  switch (stream) {
    case Stream::tool: return "tool";
    case Stream::final_check: return "final";
    case Stream::bench: return "bench";
  }
  return "";
}

std::unique_ptr<Device> make_device(const jobs::DeviceSpec& spec, const jobs::CheckSpec& check, std::uint64_t run_seed,
                                    std::shared_ptr<ForkServers> servers, const DevicePaths& paths) {
  if (spec.backend != "sim") {
    throw Error(ErrorCode::config, fmt::format("device backend '{}' is not in this version (there is: sim); set device.backend to sim", spec.backend));
  }
  if (spec.target != "trn1") {
    throw Error(ErrorCode::config, fmt::format("device target '{}' is not simulated (there is: trn1); set device.target to trn1", spec.target));
  }
  return std::make_unique<SimDevice>(spec, check, run_seed, std::move(servers), paths);
}

}  // namespace nkigrid::device
