#include "runner/device/checker.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "runner/device/hints.hpp"
#include "runner/device/sim/fork_servers.hpp"
#include "runner/device/verdict.hpp"

namespace nkigrid::device {
namespace {

constexpr nkisim::Poison kPoison{0x7fc0dead, 0xa5};
constexpr nkisim::Poison kOtherPoison{0xffd15ea5, 0x5a};
// Draws of the reference that lie nearer to each other than this do not prove that it depends on its inputs: what
// differs may be rounding (a row of probabilities sums to one whatever it holds).
constexpr double kDependsDistance = 1e-4;
constexpr std::size_t kMostHints = 12;
constexpr double kRoundingError = 0.02;  // relative L2 up to which roundings of a narrow type may be the cause

using Trials = std::vector<std::shared_ptr<const Trial>>;

VerifyResult with_diagnostic(Code code, Stage stage, std::string message, std::uint32_t line = 0) {
  VerifyResult result;
  result.diagnostic = {code, stage, line, std::move(message)};
  result.max_abs_err = result.rel_l2 = std::numeric_limits<double>::quiet_NaN();
  return result;
}

bool all_zero(const std::vector<TensorView>& outputs) {
  return std::all_of(outputs.begin(), outputs.end(), [](const TensorView& output) {
    return std::all_of(output.bytes.begin(), output.bytes.end(), [](std::byte b) { return b == std::byte{0}; });
  });
}

/// One pass over all trials in one run child.
class Pass {
 public:
  Pass(const CheckerParts& parts, const jobs::Task& task, const Trials& trials)
      : parts_(parts),
        task_(task),
        trials_(trials),
        rules_{parts.check.atol, parts.check.rtol, rel_l2_limit_of(task)} {}

  /// @returns how the last execution ended; result() is complete when it `ran`
  RunOutcome execute(const Artifact& artifact, CheckKind kind) {
    const auto opened = parts_.backend.open(task_, artifact);
    auto& session = *opened;
    result_ = {};
    failed_.reset();
    result_.trials = static_cast<std::uint32_t>(trials_.size());
    strict_ = kind == CheckKind::final_;
    bool depends = trials_.size() < 2;  // one trial proves nothing
    for (std::size_t t = 0; t < trials_.size(); ++t) {
      // Trial 0 keeps slot 0: the others and the repeat are compared with it.
      const std::size_t slot = t == 0 ? 0 : 1;
      auto outcome = session.run(trials_[t]->arguments, slot, kPoison, parts_.check.run_timeout);
      if (outcome.kind != RunOutcome::Kind::ran) return outcome;
      if (outcome.report.code != Code::none) {
        fail_at_run(outcome.report);
        return outcome;
      }
      judge_one(session, slot, t, outcome.report);
      if (t > 0 && !same_bytes(session)) depends = true;
    }
    if (failed_) add_causes(session.diagnose(trials_[*failed_]->arguments, parts_.check.run_timeout));
    if (kind == CheckKind::tool || failed_)
      return {RunOutcome::Kind::ran, {}, {}};  // evidence of cheating needs a pass
    return finish(session, artifact, depends || !reference_depends());
  }

  VerifyResult result() && { return std::move(result_); }
  /// A trial failed with outputs of nothing but zeros.
  bool silent_zeros() const noexcept { return silent_zeros_; }

 private:
  std::vector<TensorView> got(const Session& session, std::size_t slot) const {
    std::vector<TensorView> views;
    for (std::size_t i = 0; i < task_.outputs.size(); ++i)
      views.push_back({task_.outputs[i].dtype, task_.outputs[i].shape, session.output(slot, i)});
    return views;
  }

  std::vector<TensorView> want(std::size_t t) const {
    std::vector<TensorView> views;
    const auto& file = trials_[t]->expected;
    for (std::size_t i = 0; i < file.tensors.size(); ++i)
      views.push_back({file.tensors[i].dtype, file.tensors[i].shape, file.bytes_of(i)});
    return views;
  }

  bool same_bytes(const Session& session) const {
    for (std::size_t i = 0; i < task_.outputs.size(); ++i) {
      const auto a = session.output(0, i), b = session.output(1, i);
      if (std::memcmp(a.data(), b.data(), a.size()) != 0) return false;
    }
    return true;
  }

  bool reference_depends() const {
    for (std::size_t t = 1; t < trials_.size(); ++t) {
      if (distance(want(t), want(0)) > kDependsDistance) return true;
    }
    return false;
  }

  void fail_at_run(const nkisim::RunReport& report) {
    const auto passed = result_.trials_passed;
    const auto stage = report.code == Code::wrong_output_shape_dtype ? Stage::verify : Stage::run;
    result_ = with_diagnostic(report.code, stage, report.message, report.line);
    result_.trials = static_cast<std::uint32_t>(trials_.size());
    result_.trials_passed = passed;
    result_.hints = report.hints;
  }

  void judge_one(const Session& session, std::size_t slot, std::size_t t, const nkisim::RunReport& report) {
    const auto outputs = got(session, slot), references = want(t);
    const auto verdict = judge(outputs, references, rules_);
    const bool unwritten =
        std::any_of(report.unwritten.begin(), report.unwritten.end(), [](std::uint64_t n) { return n > 0; });
    result_.max_abs_err = std::max(result_.max_abs_err, verdict.max_abs_err);
    result_.rel_l2 = std::max(result_.rel_l2, verdict.rel_l2);
    strict_ = strict_ && verdict.strict_ok;
    if (verdict.paper_ok && !unwritten) {
      ++result_.trials_passed;
      return;
    }
    silent_zeros_ = silent_zeros_ || all_zero(outputs);
    if (result_.diagnostic.code != Code::none) return;  // the first failing trial speaks
    failed_ = t;
    const bool undefined = unwritten || verdict.non_finite;
    result_.first = verdict.first;
    result_.worst = verdict.worst;
    result_.diagnostic = {undefined ? Code::non_finite_uninit : Code::numeric_mismatch, Stage::verify, 0, {}};
    result_.hints = report.hints;
    causes_at_ = result_.hints.size();
    for (std::size_t i = 0; i < outputs.size() && result_.hints.size() < kMostHints; ++i) {
      for (auto& hint : hints_for(i, outputs[i], references[i], verdict.outputs[i], rules_))
        result_.hints.push_back(std::move(hint));
    }
    result_.diagnostic.message =
        fmt::format("trial {}: {}", t,
                    undefined ? "the output holds elements that were never written or are not finite"
                              : "the output does not match the reference");
    if (verdict.worst) {
      result_.diagnostic.message += fmt::format("; {} of {} elements do not match, the worst: {}", verdict.mismatches,
                                                verdict.elements, describe(*verdict.worst));
    }
  }

  /// What the run itself shows comes before what its outputs look like.
  void add_causes(nkisim::Diagnosis found) {
    auto& hints = result_.hints;
    const bool narrow = result_.rel_l2 < kRoundingError;
    auto causes = std::move(found.causes);
    if (narrow) std::move(found.narrow.begin(), found.narrow.end(), std::back_inserter(causes));
    const auto looks = std::min(causes_at_, hints.size());
    hints.insert(hints.begin() + static_cast<std::ptrdiff_t>(looks), std::make_move_iterator(causes.begin()),
                 std::make_move_iterator(causes.end()));
    if (hints.size() > kMostHints) hints.resize(kMostHints);
  }

  /// The repeat under the other poison, and what only the final check asks.
  RunOutcome finish(Session& session, const Artifact& artifact, bool depends) {
    result_.paper_ok = true;
    auto outcome = session.run(trials_[0]->arguments, 1, kOtherPoison, parts_.check.run_timeout);
    if (outcome.kind != RunOutcome::Kind::ran) return outcome;
    std::string evidence;
    const bool repeats = outcome.report.code == Code::none && same_bytes(session);
    bool noisy = false;
    if (!repeats) {
      // A device that never gives the same bytes twice proves nothing about poison: once more under the first one.
      outcome = session.run(trials_[0]->arguments, 1, kPoison, parts_.check.run_timeout);
      if (outcome.kind != RunOutcome::Kind::ran) return outcome;
      noisy = outcome.report.code == Code::none && !same_bytes(session);
    }
    if (!repeats && !noisy) {
      evidence = "the output is not reproduced when undefined memory holds other values";
    } else if (!depends) {
      evidence = "the output does not depend on the inputs, the reference does";
    } else if (artifact.constant_bytes > kMostConstantBytes) {
      evidence = fmt::format(
          "the kernel carries {} bytes of constants, more than {}; compute them in the kernel (nisa.iota, "
          "nisa.affine_select)",
          artifact.constant_bytes, kMostConstantBytes);
    }
    result_.strict_ok = strict_ && repeats && evidence.empty();
    if (!evidence.empty()) {
      result_.paper_ok = false;
      result_.diagnostic = {Code::rule_violation, Stage::verify, 0, evidence};
    }
    return {RunOutcome::Kind::ran, {}, {}};
  }

  const CheckerParts& parts_;
  const jobs::Task& task_;
  const Trials& trials_;
  VerdictRules rules_;
  VerifyResult result_;
  bool strict_ = false;
  bool silent_zeros_ = false;
  std::optional<std::size_t> failed_;  // the first failing trial
  std::size_t causes_at_ = 0;          // where the hints of its run end and those of its outputs begin
};

VerifyResult infra(std::string message) { return with_diagnostic(Code::infra, Stage::infra, std::move(message)); }

/// Turns an execution that did not come to its end into a result.
VerifyResult not_run(const CheckerParts& parts, const RunOutcome& outcome) {
  switch (outcome.kind) {
    case RunOutcome::Kind::late: {
      auto words = fmt::format("the kernel did not finish within {:.0f} s", parts.check.run_timeout.count());
      const auto why = parts.backend.doubts_the_device() ? parts.canary.failure() : std::string();
      return why.empty() ? with_diagnostic(Code::runtime_device, Stage::run, std::move(words))
                         : infra(fmt::format("{}, and the canary kernel fails too: {}", words, why));
    }
    case RunOutcome::Kind::denied:
      return with_diagnostic(Code::rule_violation, Stage::run, "the kernel's program was stopped at a forbidden act");
    case RunOutcome::Kind::crashed: {
      const auto why = parts.canary.failure();
      return why.empty() ? with_diagnostic(Code::runtime_device, Stage::run,
                                           fmt::format("the kernel's run ended twice: {}", outcome.words))
                         : infra(fmt::format("a run child ended ({}), and the canary kernel fails too: {}",
                                             outcome.words, why));
    }
    default:
      return infra(outcome.words.empty() ? "the run server is gone" : outcome.words);
  }
}

/// All trials, with the retry that a crash is owed.
VerifyResult run_trials(const CheckerParts& parts, const jobs::Task& task, const Artifact& artifact,
                        const Trials& references, CheckKind kind) {
  Pass pass(parts, task, references);
  RunOutcome outcome;
  // A crash costs one retry, then the kernel its run_fail; so does a server that died with its children.
  for (int attempt = 0; attempt < 2; ++attempt) {
    outcome = pass.execute(artifact, kind);
    if (outcome.kind != RunOutcome::Kind::crashed && outcome.kind != RunOutcome::Kind::machinery) break;
  }
  if (outcome.kind != RunOutcome::Kind::ran) return not_run(parts, outcome);
  if (pass.silent_zeros() && parts.backend.doubts_the_device()) {
    if (const auto why = parts.canary.failure(); !why.empty())
      return infra(fmt::format("the output is all zeros, and the canary kernel fails: {}", why));
  }
  auto result = std::move(pass).result();
  if (kind == CheckKind::tool)
    result.paper_ok = result.trials_passed == result.trials && result.diagnostic.code == Code::none;
  return result;
}

}  // namespace

VerifyResult check_artifact(const CheckerParts& parts, const jobs::Task& task, const Artifact& artifact, Stream stream,
                            std::uint32_t trials, CheckKind kind) {
  VerifyResult result;
  try {
    result = run_trials(parts, task, artifact, parts.references.trials(task, stream, trials), kind);
  } catch (const ServerLost&) {
    throw;  // no check can be made any more: the run stops
  } catch (const std::exception& error) {
    result = infra(error.what());
  }
  result.trials = trials;
  return result;
}

Inspection inspect_artifact(const CheckerParts& parts, const jobs::Task& task, const Artifact& artifact,
                            std::optional<std::uint64_t> shuffle_seed) {
  Inspection result;
  const auto trial = parts.references.trials(task, Stream::final_check, 1).at(0);
  // A session may be over after its first answer: one each.
  result.notes = parts.backend.open(task, artifact)->diagnose(trial->arguments, parts.check.run_timeout).causes;
  if (!shuffle_seed) return result;
  if (const auto found = parts.backend.open(task, artifact)
                             ->compare_orders(trial->arguments, *shuffle_seed, parts.check.run_timeout)) {
    result.orders.emplace();
    for (const auto& finding : *found) result.orders->push_back(finding.text);
  }
  return result;
}

}  // namespace nkigrid::device
