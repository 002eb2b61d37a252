#include "runner/device/check/pass.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include "runner/device/check/hints.hpp"

namespace nkigrid::device {
namespace {

constexpr Poison kPoison{0x7fc0dead, 0xa5};
constexpr Poison kOtherPoison{0xffd15ea5, 0x5a};
// Draws of the reference that lie nearer to each other than this do not prove that it depends on its inputs: what
// differs may be rounding (a row of probabilities sums to one whatever it holds).
constexpr double kDependsDistance = 1e-4;
constexpr std::size_t kMostHints = 12;
constexpr double kRoundingError = 0.02;  // relative L2 up to which roundings of a narrow type may be the cause

bool all_zero(const std::vector<TensorView>& outputs) {
  return std::all_of(outputs.begin(), outputs.end(), [](const TensorView& output) {
    return std::all_of(output.bytes.begin(), output.bytes.end(), [](std::byte b) { return b == std::byte{0}; });
  });
}

/// Why a trial failed. @param undefined its outputs hold what no result can be
Diagnostic diagnostic_of(std::size_t trial, const TrialVerdict& verdict, bool undefined) {
  auto message = fmt::format("trial {}: {}", trial,
                             undefined ? "the output holds elements that were never written or are not finite"
                                       : "the output does not match the reference");
  if (verdict.worst) {
    message += fmt::format("; {} of {} elements do not match, the worst: {}", verdict.mismatches, verdict.elements,
                           describe(*verdict.worst));
  }
  return {undefined ? Code::non_finite_uninit : Code::numeric_mismatch, Stage::verify, 0, std::move(message)};
}

/// What speaks for a cheat in a kernel that passed, "" when nothing does.
/// @param reproduced undefined memory of another value changed no byte, or nothing is ever reproduced
/// @param depends other inputs gave other bytes, or need not
std::string evidence_against(const Artifact& artifact, bool reproduced, bool depends) {
  if (!reproduced) return "the output is not reproduced when undefined memory holds other values";
  if (!depends) return "the output does not depend on the inputs, the reference does";
  if (artifact.constant_bytes <= kMostConstantBytes) return {};
  return fmt::format(
      "the kernel carries {} bytes of constants, more than {}; compute them in the kernel (nisa.iota, "
      "nisa.affine_select)",
      artifact.constant_bytes, kMostConstantBytes);
}

/// Where a trial's outputs go. Trial 0 keeps its slot: the others and the repeat are compared with it. The others take
/// turns in what is left.
std::size_t slot_of(std::size_t trial) { return trial == 0 ? 0 : 1 + trial % (Session::kSlots - 1); }

}  // namespace

VerifyResult failed_verify(Code code, Stage stage, std::string message, std::uint32_t line) {
  VerifyResult result;
  result.diagnostic = {code, stage, line, std::move(message)};
  result.max_abs_err = result.rel_l2 = std::numeric_limits<double>::quiet_NaN();
  return result;
}

Pass::Pass(Backend& backend, const jobs::CheckSpec& check, const jobs::Task& task, const Trials& trials)
    : backend_(backend),
      check_(check),
      task_(task),
      trials_(trials),
      rules_{check.atol, check.rtol, rel_l2_limit_of(task)} {}

RunOutcome Pass::execute(const Artifact& artifact, CheckKind kind) {
  const auto opened = backend_.open(task_, artifact);
  auto& session = *opened;
  result_ = {};
  failed_.reset();
  result_.trials = static_cast<std::uint32_t>(trials_.size());
  strict_ = kind == CheckKind::final_;
  bool depends = trials_.size() < 2;  // one trial proves nothing
  std::size_t told = 0;
  for (std::size_t t = 0; t < trials_.size(); ++t) {
    // The next ones run while this one is looked at: all whose slots nobody looks at any more.
    for (const auto all = std::min(trials_.size(), std::max(t + 2, Session::kSlots)); told < all; ++told)
      session.expect(trials_[told]->arguments, slot_of(told), kPoison);
    const auto slot = slot_of(t);
    auto outcome = session.run(trials_[t]->arguments, slot, kPoison, check_.run_timeout);
    if (outcome.kind != RunOutcome::Kind::ran) return outcome;
    if (outcome.report.code != Code::none) {
      fail_at_run(outcome.report);
      return outcome;
    }
    add_trial(session, slot, t, outcome.report);
    if (t > 0 && !same_bytes(session, slot)) depends = true;
  }
  if (failed_) add_causes(session.explain(trials_[*failed_]->arguments, check_.run_timeout));
  if (kind == CheckKind::tool || failed_) return run_reported({});  // evidence of cheating needs a pass
  return finish(session, artifact, depends || !reference_depends());
}

std::vector<TensorView> Pass::got(const Session& session, std::size_t slot) const {
  std::vector<TensorView> views;
  for (std::size_t i = 0; i < task_.outputs.size(); ++i)
    views.push_back({task_.outputs[i].dtype, task_.outputs[i].shape, session.output(slot, i)});
  return views;
}

std::vector<TensorView> Pass::want(std::size_t trial) const {
  std::vector<TensorView> views;
  const auto& file = trials_[trial]->expected;
  for (std::size_t i = 0; i < file.tensors.size(); ++i)
    views.push_back({file.tensors[i].dtype, file.tensors[i].shape, file.bytes_of(i)});
  return views;
}

bool Pass::same_bytes(const Session& session, std::size_t slot) const {
  for (std::size_t i = 0; i < task_.outputs.size(); ++i) {
    const auto a = session.output(slot_of(0), i), b = session.output(slot, i);
    if (std::memcmp(a.data(), b.data(), a.size()) != 0) return false;
  }
  return true;
}

bool Pass::reference_depends() const {
  for (std::size_t t = 1; t < trials_.size(); ++t) {
    if (distance(want(t), want(0)) > kDependsDistance) return true;
  }
  return false;
}

void Pass::fail_at_run(const RunReport& report) {
  const auto passed = result_.trials_passed;
  const auto stage = report.code == Code::wrong_output_shape_dtype ? Stage::verify : Stage::run;
  result_ = failed_verify(report.code, stage, report.message, report.line);
  result_.trials = static_cast<std::uint32_t>(trials_.size());
  result_.trials_passed = passed;
  result_.hints = report.hints;
}

void Pass::add_trial(const Session& session, std::size_t slot, std::size_t trial, const RunReport& report) {
  const auto outputs = got(session, slot), references = want(trial);
  const auto verdict = compare_outputs(outputs, references, rules_);
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
  if (failed_) return;  // the first failing trial speaks
  failed_ = trial;
  result_.elements = verdict.elements;
  result_.mismatches = verdict.mismatches;
  result_.first = verdict.first;
  result_.worst = verdict.worst;
  result_.diagnostic = diagnostic_of(trial, verdict, unwritten || verdict.non_finite);
  result_.hints = report.hints;
  causes_at_ = result_.hints.size();
  for (std::size_t i = 0; i < outputs.size() && result_.hints.size() < kMostHints; ++i) {
    for (auto& hint : hints_for(i, outputs[i], references[i], verdict.outputs[i], rules_))
      result_.hints.push_back(std::move(hint));
  }
}

/// What the run itself shows comes before what its outputs look like.
void Pass::add_causes(Explanation found) {
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
RunOutcome Pass::finish(Session& session, const Artifact& artifact, bool depends) {
  result_.paper_ok = true;
  const auto slot = slot_of(1);
  auto outcome = session.run(trials_[0]->arguments, slot, kOtherPoison, check_.run_timeout);
  if (outcome.kind != RunOutcome::Kind::ran) return outcome;
  const bool repeats = outcome.report.code == Code::none && same_bytes(session, slot);
  bool noisy = false;
  if (!repeats) {
    // A device that never gives the same bytes twice proves nothing about poison: once more under the first one.
    outcome = session.run(trials_[0]->arguments, slot, kPoison, check_.run_timeout);
    if (outcome.kind != RunOutcome::Kind::ran) return outcome;
    noisy = outcome.report.code == Code::none && !same_bytes(session, slot);
  }
  const auto evidence = evidence_against(artifact, repeats || noisy, depends);
  result_.strict_ok = strict_ && repeats && evidence.empty();
  if (!evidence.empty()) {
    result_.paper_ok = false;
    result_.diagnostic = {Code::rule_violation, Stage::verify, 0, evidence};
  }
  return run_reported({});
}

}  // namespace nkigrid::device
