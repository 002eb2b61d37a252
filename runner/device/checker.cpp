#include "runner/device/checker.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"
#include "runner/device/compiler.hpp"
#include "runner/device/hints.hpp"
#include "runner/device/verdict.hpp"
#include "runner/nkisim/program.hpp"

namespace nkigrid::device {
namespace {

constexpr nkisim::Poison kPoison{0x7fc0dead, 0xa5};
constexpr nkisim::Poison kOtherPoison{0xffd15ea5, 0x5a};
constexpr std::size_t kMostConstantBytes = 64 * 1024;
// Draws of the reference that lie nearer to each other than this do not prove that it depends on its inputs: what differs may be
// rounding (a row of probabilities sums to one whatever it holds).
constexpr double kDependsDistance = 1e-4;
constexpr std::size_t kMostHints = 12;

using Trials = std::vector<std::shared_ptr<const Trial>>;

VerifyResult with_diagnostic(Code code, Stage stage, std::string message, std::uint32_t line = 0) {
  VerifyResult result;
  result.diagnostic = {code, stage, line, std::move(message)};
  result.max_abs_err = result.rel_l2 = std::numeric_limits<double>::quiet_NaN();
  return result;
}

/// What is wrong with the program's outputs as the task sees them, or "".
std::string output_fault(const nkisim::Program& program, const jobs::Task& task) {
  if (program.outputs.size() != task.outputs.size()) {
    return fmt::format("the kernel returns {} tensors, the task has {} outputs", program.outputs.size(), task.outputs.size());
  }
  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    const auto& got = program.buffers.at(program.outputs[i]);
    const auto& want = task.outputs[i];
    if (got.shape == want.shape && nkisim::to_string(got.dtype) == want.dtype) continue;
    return fmt::format("output {} is [{}] {}, the task wants [{}] {}", i, fmt::join(got.shape, ", "), nkisim::to_string(got.dtype),
                       fmt::join(want.shape, ", "), want.dtype);
  }
  return {};
}

/// One pass over all trials in one run child.
class Pass {
 public:
  Pass(const CheckerParts& parts, const jobs::Task& task, const Trials& trials)
      : parts_(parts), task_(task), trials_(trials), rules_{parts.check.atol, parts.check.rtol, rel_l2_limit_of(task)} {
    std::vector<std::size_t> sizes;
    for (const auto& output : task.outputs) sizes.push_back(bytes_of(output));
    layout_ = layout_of(sizes);
  }

  /// @returns how the last execution ended; result() is complete when it `ran`
  RunOutcome execute(const Artifact& artifact, CheckKind kind) {
    RunSession session(parts_.servers, parts_.pool, artifact.bytes, layout_);
    result_ = {};
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
    if (kind == CheckKind::tool) return {RunOutcome::Kind::ran, {}, {}};
    return finish(session, artifact, depends || !reference_depends());
  }

  VerifyResult result() && { return std::move(result_); }

 private:
  std::vector<TensorView> got(const RunSession& session, std::size_t slot) const {
    std::vector<TensorView> views;
    for (std::size_t i = 0; i < task_.outputs.size(); ++i) views.push_back({task_.outputs[i].dtype, task_.outputs[i].shape, session.output(slot, i)});
    return views;
  }

  std::vector<TensorView> want(std::size_t t) const {
    std::vector<TensorView> views;
    const auto& file = trials_[t]->expected;
    for (std::size_t i = 0; i < file.tensors.size(); ++i) views.push_back({file.tensors[i].dtype, file.tensors[i].shape, file.bytes_of(i)});
    return views;
  }

  bool same_bytes(const RunSession& session) const {
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
    result_ = with_diagnostic(report.code, Stage::run, report.message, report.line);
    result_.trials = static_cast<std::uint32_t>(trials_.size());
    result_.trials_passed = passed;
    result_.hints = report.hints;
  }

  void judge_one(const RunSession& session, std::size_t slot, std::size_t t, const nkisim::RunReport& report) {
    const auto outputs = got(session, slot), references = want(t);
    const auto verdict = judge(outputs, references, rules_);
    const bool unwritten = std::any_of(report.unwritten.begin(), report.unwritten.end(), [](std::uint64_t n) { return n > 0; });
    result_.max_abs_err = std::max(result_.max_abs_err, verdict.max_abs_err);
    result_.rel_l2 = std::max(result_.rel_l2, verdict.rel_l2);
    strict_ = strict_ && verdict.strict_ok;
    if (verdict.paper_ok && !unwritten) {
      ++result_.trials_passed;
      return;
    }
    if (result_.diagnostic.code != Code::none) return;  // the first failing trial speaks
    const bool undefined = unwritten || verdict.non_finite;
    result_.first = verdict.first;
    result_.diagnostic = {undefined ? Code::non_finite_uninit : Code::numeric_mismatch, Stage::verify, 0, {}};
    result_.hints = report.hints;
    for (std::size_t i = 0; i < outputs.size() && result_.hints.size() < kMostHints; ++i) {
      for (auto& hint : hints_for(i, outputs[i], references[i], verdict.outputs[i], rules_)) result_.hints.push_back(std::move(hint));
    }
    result_.diagnostic.message = fmt::format("trial {}: {}", t, undefined ? "the output holds elements that were never written or are not finite"
                                                                         : "the output does not match the reference");
  }

  /// The repeat under the other poison, and what only the final check asks.
  RunOutcome finish(RunSession& session, const Artifact& artifact, bool depends) {
    result_.paper_ok = result_.trials_passed == result_.trials;
    if (!result_.paper_ok) return {RunOutcome::Kind::ran, {}, {}};  // evidence of cheating needs a pass
    auto outcome = session.run(trials_[0]->arguments, 1, kOtherPoison, parts_.check.run_timeout);
    if (outcome.kind != RunOutcome::Kind::ran) return outcome;
    std::string evidence;
    if (outcome.report.code != Code::none || !same_bytes(session)) {
      evidence = "the output is not reproduced when undefined memory holds other values";
    } else if (!depends) {
      evidence = "the output does not depend on the inputs, the reference does";
    } else if (artifact.constant_bytes > kMostConstantBytes) {
      evidence = fmt::format("the kernel carries {} bytes of constants, more than {}", artifact.constant_bytes, kMostConstantBytes);
    }
    result_.strict_ok = strict_ && evidence.empty();
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
  OutputLayout layout_;
  VerifyResult result_;
  bool strict_ = false;
};

/// Turns an execution that did not come to its end into a result.
VerifyResult not_run(const CheckerParts& parts, const RunOutcome& outcome, std::uint32_t trials) {
  VerifyResult result;
  switch (outcome.kind) {
    case RunOutcome::Kind::late:
      result = with_diagnostic(Code::runtime_device, Stage::run, fmt::format("the kernel did not finish within {:.0f} s", parts.check.run_timeout.count()));
      break;
    case RunOutcome::Kind::denied:
      result = with_diagnostic(Code::rule_violation, Stage::run, "the kernel's program was stopped at a forbidden act");
      break;
    case RunOutcome::Kind::crashed:
      if (const auto why = parts.canary.failure(); why.empty()) {
        result = with_diagnostic(Code::runtime_device, Stage::run, fmt::format("the kernel's run ended twice: {}", outcome.words));
      } else {
        result = with_diagnostic(Code::infra, Stage::infra, fmt::format("a run child ended ({}), and the canary kernel fails too: {}", outcome.words, why));
      }
      break;
    default:
      result = with_diagnostic(Code::infra, Stage::infra, outcome.words.empty() ? "the run server is gone" : outcome.words);
  }
  result.trials = trials;
  return result;
}

}  // namespace

VerifyResult check_artifact(const CheckerParts& parts, const jobs::Task& task, const Artifact& artifact, Stream stream, std::uint32_t trials, CheckKind kind) {
  try {
    if (auto fault = output_fault(nkisim::parse_program(artifact.bytes), task); !fault.empty()) {
      auto result = with_diagnostic(Code::wrong_output_shape_dtype, Stage::verify, std::move(fault));
      result.trials = trials;
      return result;
    }
    const auto references = parts.references.trials(task, stream, trials);
    Pass pass(parts, task, references);
    RunOutcome outcome;
    // A crash costs one retry, then the kernel its run_fail; so does a server that died with its children.
    for (int attempt = 0; attempt < 2; ++attempt) {
      outcome = pass.execute(artifact, kind);
      if (outcome.kind != RunOutcome::Kind::crashed && outcome.kind != RunOutcome::Kind::machinery) break;
    }
    if (outcome.kind != RunOutcome::Kind::ran) return not_run(parts, outcome, trials);
    auto result = std::move(pass).result();
    if (kind == CheckKind::tool) result.paper_ok = result.trials_passed == trials && result.diagnostic.code == Code::none;
    return result;
  } catch (const ServerLost&) {
    throw;  // no check can be made any more: the run stops
  } catch (const std::exception& error) {
    auto result = with_diagnostic(Code::infra, Stage::infra, error.what());
    result.trials = trials;
    return result;
  }
}

}  // namespace nkigrid::device
