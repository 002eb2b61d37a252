#include "runner/agent/kernel_steps.hpp"

namespace nkigrid::agent {
namespace {

void write_failure(log::Turn& turn, const device::Diagnostic& diagnostic) {
  turn.stage = diagnostic.stage;
  turn.code = diagnostic.code;
  turn.line = diagnostic.line;
}

}  // namespace

InfraStop infra_stop(const device::Device& device, const device::Diagnostic& diagnostic) {
  const bool hardware = diagnostic.stage == Stage::run && device.is_hardware();
  return {hardware ? Outcome::device_error : Outcome::verifier_error, diagnostic.message};
}

void compile_submission(Session& session, Submission& submission, log::Turn& turn) {
  const double start = session.clock.monotonic().count();
  submission.compiled = session.device.compile(session.job.task, submission.source, submission.entry);
  turn.compile_s += session.clock.monotonic().count() - start;
  const device::CompileResult& result = *submission.compiled;
  if (!result.ok() && result.diagnostic.code == Code::infra) throw infra_stop(session.device, result.diagnostic);
  turn.compile_ok = result.ok() ? 1 : 0;
  if (result.ok())
    turn.estimate_us = result.estimate_us;
  else
    write_failure(turn, result.diagnostic);
}

device::VerifyResult verify_submission(Session& session, const Submission& submission, std::uint32_t trials,
                                       log::Turn& turn) {
  const double start = session.clock.monotonic().count();
  device::VerifyResult result =
      session.device.verify(session.job.task, *submission.compiled->artifact, device::Stream::tool, trials);
  turn.verify_s += session.clock.monotonic().count() - start;
  if (result.diagnostic.code == Code::infra) throw infra_stop(session.device, result.diagnostic);
  turn.verify_ok = result.paper_ok ? 1 : 0;
  turn.max_abs_err = result.max_abs_err;
  turn.rel_l2 = result.rel_l2;
  if (result.paper_ok)
    session.talk.best = submission;
  else
    write_failure(turn, result.diagnostic);
  return result;
}

}  // namespace nkigrid::agent
