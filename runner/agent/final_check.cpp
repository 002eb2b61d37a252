#include "runner/agent/final_check.hpp"

#include <utility>

#include "runner/agent/findings.hpp"
#include "runner/agent/kernel_steps.hpp"

namespace nkigrid::agent {
namespace {

struct Verdict {
  Outcome outcome = Outcome::compile_fail;
  bool strict = false;
  device::Diagnostic diagnostic;
  std::string findings;
  std::uint32_t trials = 0, trials_passed = 0;
  double max_abs_err = kNaN, rel_l2 = kNaN, estimate_us = kNaN;
};

/// The harness's own check of one kernel; the same source is not compiled again.
Verdict check(Session& session, Submission& submission) {
  log::Turn unrecorded;
  if (!submission.compiled) compile_submission(session, submission, unrecorded);
  const device::CompileResult& compiled = *submission.compiled;
  Verdict verdict;
  if (!compiled.ok()) {
    verdict.diagnostic = compiled.diagnostic;
    verdict.findings = findings_of(compiled.diagnostic, nullptr);
    verdict.outcome = outcome_of(compiled.diagnostic.code, compiled.diagnostic.stage);
    return verdict;
  }
  verdict.estimate_us = compiled.estimate_us;
  const device::VerifyResult result = session.device.final_check(session.job.task, *compiled.artifact);
  verdict.diagnostic = result.diagnostic;
  if (result.diagnostic.code == Code::infra) throw infra_stop(session.device, result.diagnostic);
  verdict.findings = findings_of(result.diagnostic, &result);
  verdict.trials = result.trials;
  verdict.trials_passed = result.trials_passed;
  verdict.max_abs_err = result.max_abs_err;
  verdict.rel_l2 = result.rel_l2;
  const bool cheated = result.diagnostic.code == Code::rule_violation;
  verdict.outcome =
      result.paper_ok && !cheated ? Outcome::pass : outcome_of(result.diagnostic.code, result.diagnostic.stage);
  verdict.strict = verdict.outcome == Outcome::pass && result.strict_ok;
  return verdict;
}

bool same_kernel(const Submission& a, const Submission& b) { return a.source == b.source && a.entry == b.entry; }

/// Why the last reply gave no kernel.
Outcome outcome_without_kernel(const Conversation& talk) {
  if (talk.last_event == TurnEvent::refused || talk.ended_by == EndedBy::refused) return Outcome::refused;
  if (talk.ended_by == EndedBy::context_full) return Outcome::context_full;
  switch (talk.last_event) {
    case TurnEvent::truncated:
      return Outcome::truncated;
    case TurnEvent::bad_tool_args:
      return Outcome::bad_tool_args;
    default:
      return Outcome::no_code;
  }
}

/// The newest submission with the result of its compile, when the current or best kernel is the same one.
void share_compile(Conversation& talk) {
  for (const auto& other : {talk.current, talk.best}) {
    if (other && other->compiled && !talk.newest->compiled && same_kernel(*other, *talk.newest))
      talk.newest->compiled = other->compiled;
  }
}

}  // namespace

void final_check(Session& session, log::End& end) {
  Conversation& talk = session.talk;
  end.max_abs_err = end.rel_l2 = end.estimate_us = kNaN;
  if (!talk.newest) {
    end.outcome = outcome_without_kernel(talk);
    return;
  }
  share_compile(talk);
  Verdict final = check(session, *talk.newest);
  Verdict best = final;
  if (talk.best && !same_kernel(*talk.best, *talk.newest)) best = check(session, *talk.best);
  end.outcome = final.outcome;
  end.passed = final.outcome == Outcome::pass ? 1 : 0;
  end.strict_passed = final.strict ? 1 : 0;
  end.best_passed = best.outcome == Outcome::pass ? 1 : 0;
  end.best_strict_passed = best.strict ? 1 : 0;
  end.stage = final.diagnostic.stage;
  end.code = final.diagnostic.code;
  end.line = final.diagnostic.line;
  end.findings = std::move(final.findings);
  end.trials = final.trials;
  end.trials_passed = final.trials_passed;
  end.max_abs_err = final.max_abs_err;
  end.rel_l2 = final.rel_l2;
  end.estimate_us = final.estimate_us;
}

}  // namespace nkigrid::agent
