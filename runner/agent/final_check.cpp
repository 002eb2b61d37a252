#include <cmath>
#include <limits>

#include "runner/agent/session.hpp"

namespace nkigrid::agent {
namespace {

struct Verdict {
  Outcome outcome = Outcome::compile_fail;
  bool strict = false;
  device::Diagnostic diagnostic;
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
    verdict.outcome = outcome_of(compiled.diagnostic.code, compiled.diagnostic.stage);
    return verdict;
  }
  verdict.estimate_us = compiled.estimate_us;
  const device::VerifyResult result = session.device.final_check(session.job.task, *compiled.artifact);
  verdict.diagnostic = result.diagnostic;
  if (result.diagnostic.code == Code::infra) throw infra_stop(session.device, result.diagnostic);
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
Outcome outcome_without_kernel(const Session& session) {
  if (session.last_event == TurnEvent::refused || session.ended_by == EndedBy::refused) return Outcome::refused;
  if (session.ended_by == EndedBy::context_full) return Outcome::context_full;
  switch (session.last_event) {
    case TurnEvent::truncated:
      return Outcome::truncated;
    case TurnEvent::bad_tool_args:
      return Outcome::bad_tool_args;
    default:
      return Outcome::no_code;
  }
}

/// The newest submission with the result of its compile, when the current or best kernel is the same one.
void share_compile(Session& session) {
  for (const auto& other : {session.current, session.best}) {
    if (other && other->compiled && !session.newest->compiled && same_kernel(*other, *session.newest))
      session.newest->compiled = other->compiled;
  }
}

}  // namespace

void judge(Session& session, log::End& end) {
  end.max_abs_err = end.rel_l2 = end.estimate_us = kNaN;
  if (!session.newest) {
    end.outcome = outcome_without_kernel(session);
    return;
  }
  share_compile(session);
  const Verdict final = check(session, *session.newest);
  Verdict best = final;
  if (session.best && !same_kernel(*session.best, *session.newest)) best = check(session, *session.best);
  end.outcome = final.outcome;
  end.passed = final.outcome == Outcome::pass ? 1 : 0;
  end.strict_passed = final.strict ? 1 : 0;
  end.best_passed = best.outcome == Outcome::pass ? 1 : 0;
  end.best_strict_passed = best.strict ? 1 : 0;
  end.stage = final.diagnostic.stage;
  end.code = final.diagnostic.code;
  end.line = final.diagnostic.line;
  end.max_abs_err = final.max_abs_err;
  end.rel_l2 = final.rel_l2;
  end.estimate_us = final.estimate_us;
}

}  // namespace nkigrid::agent
