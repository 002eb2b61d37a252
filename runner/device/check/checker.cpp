#include "runner/device/check/checker.hpp"

#include <utility>

#include <fmt/core.h>

#include "jobs/base/error.hpp"

namespace nkigrid::device {
namespace {

VerifyResult infra(std::string message) { return failed_verify(Code::infra, Stage::infra, std::move(message)); }

/// Turns an execution that did not come to its end into a result.
VerifyResult not_run(const CheckerParts& parts, const RunOutcome& outcome) {
  switch (outcome.kind) {
    case RunOutcome::Kind::late: {
      auto words = fmt::format("the kernel did not finish within {:.0f} s", parts.check.run_timeout.count());
      const auto why = parts.backend.may_be_at_fault() ? parts.canary.failure() : std::string();
      return why.empty() ? failed_verify(Code::runtime_device, Stage::run, std::move(words))
                         : infra(fmt::format("{}, and the canary kernel fails too: {}", words, why));
    }
    case RunOutcome::Kind::denied:
      return failed_verify(Code::rule_violation, Stage::run, "the kernel's program was stopped at a forbidden act");
    case RunOutcome::Kind::crashed: {
      const auto why = parts.canary.failure();
      return why.empty() ? failed_verify(Code::runtime_device, Stage::run,
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
                        const Pass::Trials& references, CheckKind kind) {
  Pass pass(parts.backend, parts.check, task, references);
  RunOutcome outcome;
  // A crash costs one retry, then the kernel its run_fail; so does a server that died with its children.
  for (int attempt = 0; attempt < 2; ++attempt) {
    outcome = pass.execute(artifact, kind);
    if (outcome.kind != RunOutcome::Kind::crashed && outcome.kind != RunOutcome::Kind::machinery) break;
  }
  if (outcome.kind != RunOutcome::Kind::ran) return not_run(parts, outcome);
  if (pass.silent_zeros() && parts.backend.may_be_at_fault()) {
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
  } catch (const DeviceLost&) {
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
  result.notes = parts.backend.open(task, artifact)->explain(trial->arguments, parts.check.run_timeout).causes;
  if (!shuffle_seed) return result;
  result.orders =
      parts.backend.open(task, artifact)->compare_orders(trial->arguments, *shuffle_seed, parts.check.run_timeout);
  return result;
}

}  // namespace nkigrid::device
