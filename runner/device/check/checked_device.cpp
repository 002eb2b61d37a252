#include "runner/device/check/checked_device.hpp"

#include <chrono>
#include <utility>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/hash.hpp"
#include "runner/device/check/canary.hpp"
#include "runner/device/check/checker.hpp"
#include "runner/device/check/compile_cache.hpp"
#include "runner/device/check/reference.hpp"
#include "runner/device/check/source_fault.hpp"
#include "runner/device/shared/texts.hpp"

namespace nkigrid::device {
namespace {

constexpr std::size_t kMostCompileBytes = std::size_t{512} << 20;  // of kept results, a rank

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Any backend behind the port, with what is the same for all of them.
class CheckedDevice final : public Device {
 public:
  CheckedDevice(std::unique_ptr<Backend> backend, const jobs::CheckSpec& check, const DrawSource& draws,
                const DevicePaths& paths)
      : backend_(std::move(backend)),
        check_(check),
        references_(paths.libexec / "reference_worker.py", paths.cache, draws, check),
        canary_(*backend_),
        compiled_(kMostCompileBytes) {
    if (const auto why = canary_.failure(); !why.empty()) {
      throw Error(ErrorCode::external,
                  fmt::format("the canary kernel of the {} backend fails on this machine: {}", backend_->name(), why));
    }
  }

  CompileResult compile(const jobs::Task& task, const std::string& source,
                        const std::optional<std::string>& entry) override {
    const auto start = std::chrono::steady_clock::now();
    const auto key = Sha256()
                         .field(source)
                         .field(entry ? "entry" : "")
                         .field(entry.value_or(""))
                         .field(task.hash)
                         .field(task.id)
                         .hex();
    auto result = compiled_.get(key, [&] { return compile_once(task, source, entry); });
    result.seconds = since(start);
    return result;
  }

  VerifyResult verify(const jobs::Task& task, const Artifact& artifact, Stream stream, std::uint32_t trials) override {
    return check(task, artifact, stream, trials, CheckKind::tool);
  }

  VerifyResult final_check(const jobs::Task& task, const Artifact& artifact) override {
    return check(task, artifact, Stream::final_check, check_.trials, CheckKind::final_);
  }

  Inspection inspect(const jobs::Task& task, const Artifact& artifact,
                     std::optional<std::uint64_t> shuffle_seed) override {
    return inspect_artifact({*backend_, references_, canary_, check_}, task, artifact, shuffle_seed);
  }

  std::optional<std::string> profile(const Artifact& artifact) override { return backend_->profile(artifact); }

  bool is_hardware() const override { return backend_->is_hardware(); }
  std::string backend() const override { return backend_->name(); }
  std::string compiler() const override { return backend_->compiler(); }

 private:
  CompileResult compile_once(const jobs::Task& task, const std::string& source,
                             const std::optional<std::string>& entry) {
    if (auto fault = source_fault(source)) {
      CompileResult result;
      result.diagnostic = std::move(*fault);
      return result;
    }
    auto attempt = backend_->compile(task, source, entry, check_.compile_timeout);
    if (attempt.result.ok()) warn_of_constants(attempt.result);
    if (attempt.doubt.empty()) return std::move(attempt.result);
    if (const auto why = canary_.compile_failure(); !why.empty()) {
      attempt.result.diagnostic = {Code::infra, Stage::infra, 0,
                                   fmt::format("{}, and the canary kernel fails too: {}", attempt.doubt, why)};
    }
    return std::move(attempt.result);
  }

  /// What the final check will refuse is said while there are turns left to mend it.
  static void warn_of_constants(CompileResult& result) {
    const auto bytes = result.artifact->constant_bytes;
    if (bytes <= kMostConstantBytes) return;
    result.warnings.push_back(
        as_warning(fmt::format("the kernel carries {} bytes of constants; more than {} make the final check refuse it: "
                               "compute them in the kernel (nisa.iota, nisa.affine_select)",
                               bytes, kMostConstantBytes)));
  }

  VerifyResult check(const jobs::Task& task, const Artifact& artifact, Stream stream, std::uint32_t trials,
                     CheckKind kind) {
    const auto start = std::chrono::steady_clock::now();
    auto result = check_artifact({*backend_, references_, canary_, check_}, task, artifact, stream, trials, kind);
    result.seconds = since(start);
    return result;
  }

  std::unique_ptr<Backend> backend_;
  jobs::CheckSpec check_;
  ReferenceCache references_;
  Canary canary_;
  CompileCache compiled_;
};

}  // namespace

std::unique_ptr<Device> make_checked_device(std::unique_ptr<Backend> backend, const jobs::CheckSpec& check,
                                            const DrawSource& draws, const DevicePaths& paths) {
  return std::make_unique<CheckedDevice>(std::move(backend), check, draws, paths);
}

}  // namespace nkigrid::device
