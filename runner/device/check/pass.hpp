#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jobs/grid/grid.hpp"
#include "runner/device/backend.hpp"
#include "runner/device/check/reference.hpp"
#include "runner/device/check/verdict.hpp"

namespace nkigrid::device {

/// Constants in a kernel's text beyond this many bytes are evidence of an answer written down (kernel interface,
/// outcomes).
inline constexpr std::size_t kMostConstantBytes = 64 * 1024;

enum class CheckKind {
  tool,   ///< the paper rule on every trial
  final_  ///< both rules, the repeat under the other poison, evidence of cheating
};

VerifyResult failed_verify(Code code, Stage stage, std::string message, std::uint32_t line = 0);

/// One pass over all trials in one session. @threads one caller
class Pass {
 public:
  using Trials = std::vector<std::shared_ptr<const Trial>>;

  /// @pre all of them outlive the pass
  Pass(Backend& backend, const jobs::CheckSpec& check, const jobs::Task& task, const Trials& trials);

  /// @returns how the last execution ended; result() is complete when it `ran`. May be called again.
  /// @throws as Backend::open()
  RunOutcome execute(const Artifact& artifact, CheckKind kind);

  VerifyResult result() && { return std::move(result_); }
  /// A trial failed with outputs of nothing but zeros.
  bool silent_zeros() const noexcept { return silent_zeros_; }

 private:
  std::vector<TensorView> got(const Session& session, std::size_t slot) const;
  std::vector<TensorView> want(std::size_t trial) const;
  bool same_bytes(const Session& session, std::size_t slot) const;  // as the first trial's
  bool reference_depends() const;
  void fail_at_run(const RunReport& report);
  void add_trial(const Session& session, std::size_t slot, std::size_t trial, const RunReport& report);
  void add_causes(Explanation found);
  RunOutcome finish(Session& session, const Artifact& artifact, bool depends);

  Backend& backend_;
  const jobs::CheckSpec& check_;
  const jobs::Task& task_;
  const Trials& trials_;
  VerdictRules rules_;
  VerifyResult result_;
  bool strict_ = false;
  bool silent_zeros_ = false;
  std::optional<std::size_t> failed_;  // the first failing trial
  std::size_t causes_at_ = 0;          // where the hints of its run end and those of its outputs begin
};

}  // namespace nkigrid::device
