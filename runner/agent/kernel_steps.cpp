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
  const Session::Kernel kernel = {submission.source, submission.entry};
  if (const auto known = session.compiled.find(kernel); known != session.compiled.end()) {
    submission.compiled = known->second;
  } else {
    const double start = session.clock.monotonic().count();
    submission.compiled = session.device.compile(session.job.task, submission.source, submission.entry);
    turn.compile_s += session.clock.monotonic().count() - start;
    const auto& diagnostic = submission.compiled->diagnostic;
    if (!submission.compiled->ok() && diagnostic.code == Code::infra) throw infra_stop(session.device, diagnostic);
    session.compiled.emplace(kernel, *submission.compiled);
  }
  const device::CompileResult& result = *submission.compiled;
  turn.compile_ok = result.ok() ? 1 : 0;
  if (result.ok())
    turn.estimate_us = result.estimate_us;
  else
    write_failure(turn, result.diagnostic);
}

device::VerifyResult verify_submission(Session& session, const Submission& submission, std::uint32_t trials,
                                       log::Turn& turn) {
  const auto key = std::pair(Session::Kernel{submission.source, submission.entry}, trials);
  auto known = session.verified.find(key);
  if (known == session.verified.end()) {
    const double start = session.clock.monotonic().count();
    auto fresh = session.device.verify(session.job.task, *submission.compiled->artifact, device::Stream::tool, trials);
    turn.verify_s += session.clock.monotonic().count() - start;
    if (fresh.diagnostic.code == Code::infra) throw infra_stop(session.device, fresh.diagnostic);
    known = session.verified.emplace(key, std::move(fresh)).first;
  }
  const device::VerifyResult& result = known->second;
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
