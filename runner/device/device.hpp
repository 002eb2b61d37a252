#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "jobs/benchmark.hpp"
#include "runner/device/values.hpp"

namespace nkigrid::device {

/// Compiles and verifies. @threads every call from many lanes at once. Failures of a kernel are values; a failure of
/// the machinery is a value with code INFRA; only a stop of the whole run throws (Error{external}).
class Device {
 public:
  virtual ~Device() = default;

  /// @param entry the tool's `entry`, if the model named one
  virtual CompileResult compile(const jobs::Task& task, const std::string& source,
                                const std::optional<std::string>& entry) = 0;

  /// Runs trials 0 .. trials-1 of `stream` by the paper rule. @pre trials >= 1
  virtual VerifyResult verify(const jobs::Task& task, const Artifact& artifact, Stream stream,
                              std::uint32_t trials) = 0;

  /// The harness's own last check: check.trials of `final`, then t = 0 again under the other poison; both rules, cheat
  /// evidence.
  virtual VerifyResult final_check(const jobs::Task& task, const Artifact& artifact) = 0;

  /// Runs trial 0 of `final` again, watched. @param shuffle_seed also in other orders of the affine_range loops
  virtual Inspection inspect(const jobs::Task&, const Artifact&, std::optional<std::uint64_t> /*shuffle_seed*/) {
    return {};
  }

  /// Where the time of a compiled kernel would go: a JSON object of at most 12 KiB (docs/decisions/estimate.md).
  /// Nothing where the backend does not estimate.
  virtual std::optional<std::string> profile(const Artifact&) { return std::nullopt; }

  /// True where something beside this machine's processors executes: a machinery that fails a run is then that device.
  virtual bool is_hardware() const { return false; }

  virtual std::string backend() const = 0;   ///< "sim"
  virtual std::string compiler() const = 0;  ///< e.g. "2.24+nkisim"
};

}  // namespace nkigrid::device
