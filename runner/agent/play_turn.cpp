#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "jobs/base/text.hpp"
#include "runner/agent/session.hpp"
#include "runner/agent/tools.hpp"

namespace nkigrid::agent {
namespace {

constexpr std::string_view kCutCall = "not run: the reply was cut off at its token limit; send the call again, shorter";
constexpr std::string_view kCutReply = "Your reply was cut off at its token limit. Answer again, shorter.";
constexpr std::string_view kAfterPass = "not run: the kernel has passed verification";
constexpr std::string_view kNoKernel = "no compiled kernel";

model::Message user_message(std::string text) { return {model::Role::user, std::move(text), {}, "", false}; }

/// The calls of one reply, in order.
class CallRunner {
 public:
  CallRunner(Session& session, log::Turn& turn, std::vector<std::string>& flags)
      : session_(session), turn_(turn), flags_(flags) {}

  model::Message answer(const model::ToolCall& call, bool truncated) {
    if (truncated) return error(call, kCutCall);
    if (passed_ && session_.job.mode.stop_on_pass) return error(call, kAfterPass);
    DecodedCall decoded = decode_call(call);
    if (!decoded.problem.empty()) {
      turn_.event = TurnEvent::bad_tool_args;
      return error(call, decoded.problem);
    }
    if (decoded.peeled) flags_.emplace_back("args_peeled=1");
    if (!decoded.notes.empty()) flags_.push_back(fmt::format("unknown_args={}", decoded.notes.size()));
    return decoded.tool == Tool::compile ? compile(call, decoded) : verify(call, decoded);
  }

 private:
  static model::Message error(const model::ToolCall& call, std::string_view problem) {
    return {model::Role::tool, error_answer(std::string(problem)), {}, call.id, true};
  }

  model::Message compile(const model::ToolCall& call, DecodedCall& decoded) {
    Submission submission{std::move(decoded.source), std::move(decoded.entry), ++session_.submissions, std::nullopt};
    turn_.kernel = submission.source;
    compile_submission(session_, submission, turn_);
    const device::CompileResult& result = *submission.compiled;
    model::Message message{
        model::Role::tool, compile_answer(result, submission.number, decoded.notes), {}, call.id, false};
    session_.current.reset();
    if (result.ok()) session_.current = submission;
    session_.newest = std::move(submission);
    return message;
  }

  /// The current kernel's artifact; after a takeover it is compiled again, which is no turn and leaves no trace in its
  /// row.
  bool have_artifact() {
    if (!session_.current) return false;
    if (!session_.current->compiled) {
      log::Turn unrecorded;
      compile_submission(session_, *session_.current, unrecorded);
    }
    return session_.current->compiled->ok();
  }

  model::Message verify(const model::ToolCall& call, const DecodedCall& decoded) {
    if (!have_artifact()) return error(call, kNoKernel);
    const device::Artifact& artifact = *session_.current->compiled->artifact;
    if (decoded.entry && *decoded.entry != artifact.entry) {
      return error(call, fmt::format("entry '{}' is not the compiled one ('{}'); compile it first", *decoded.entry,
                                     artifact.entry));
    }
    const std::uint32_t trials = decoded.trials.value_or(session_.job.grid.check.tool_trials);
    const double start = session_.clock.monotonic().count();
    const device::VerifyResult result =
        session_.device.verify(session_.job.task, artifact, device::Stream::tool, trials);
    turn_.verify_s += session_.clock.monotonic().count() - start;
    if (result.diagnostic.code == Code::infra) throw infra_stop(session_.device, result.diagnostic);
    turn_.verify_ok = result.paper_ok ? 1 : 0;
    turn_.max_abs_err = result.max_abs_err;
    turn_.rel_l2 = result.rel_l2;
    if (result.paper_ok) {
      passed_ = true;
      session_.best = session_.current;
    } else {
      turn_.stage = result.diagnostic.stage;
      turn_.code = result.diagnostic.code;
      turn_.line = result.diagnostic.line;
    }
    return {model::Role::tool, verify_answer(result, session_.current->number, decoded.notes), {}, call.id, false};
  }

  Session& session_;
  log::Turn& turn_;
  std::vector<std::string>& flags_;
  bool passed_ = false;
};

void play_calls(Session& session, const Reading& reading, log::Turn& turn, std::vector<std::string>& flags,
                std::vector<model::Message>& answers) {
  CallRunner runner(session, turn, flags);
  turn.tool_calls = static_cast<std::uint32_t>(reading.message.tool_calls.size());
  for (const model::ToolCall& call : reading.message.tool_calls)
    answers.push_back(runner.answer(call, reading.truncated));
}

/// `feedback: verify`: the tool stream decides. @returns what the model is told
std::string verify_text(Session& session, Submission& submission, log::Turn& turn) {
  const double start = session.clock.monotonic().count();
  const device::VerifyResult result = session.device.verify(session.job.task, *submission.compiled->artifact,
                                                            device::Stream::tool, session.job.grid.check.tool_trials);
  turn.verify_s = session.clock.monotonic().count() - start;
  if (result.diagnostic.code == Code::infra) throw infra_stop(session.device, result.diagnostic);
  turn.verify_ok = result.paper_ok ? 1 : 0;
  turn.max_abs_err = result.max_abs_err;
  turn.rel_l2 = result.rel_l2;
  if (result.paper_ok) {
    session.best = submission;
    return "";
  }
  turn.stage = result.diagnostic.stage;
  turn.code = result.diagnostic.code;
  turn.line = result.diagnostic.line;
  return fmt::format("The kernel compiles, but its output is wrong: {}\n{}", result.diagnostic.message,
                     fmt::join(result.hints, "\n"));
}

/// Code of a reply without a call: compiled in every mode, so that its row says what became of it.
/// @returns the text that answers it; "" when nothing is to be said
std::string play_code(Session& session, const std::string& code, log::Turn& turn) {
  Submission submission{code, std::nullopt, ++session.submissions, std::nullopt};
  turn.kernel = code;
  compile_submission(session, submission, turn);
  std::string text;
  if (!submission.compiled->ok()) {
    text = submission.compiled->diagnostic.message;
    if (text.empty()) text = fmt::format("compilation failed ({})", to_string(submission.compiled->diagnostic.code));
  } else if (session.job.mode.feedback_verify && session.job.mode.kind == jobs::ModeKind::multi_turn) {
    text = verify_text(session, submission, turn);
  }
  session.current.reset();
  if (submission.compiled->ok()) session.current = submission;
  session.newest = std::move(submission);
  return elide_middle(to_valid_utf8(strip_terminal_codes(text)), kMaxAnswerBytes);
}

/// What the harness says to a reply without calls while the episode goes on.
model::Message feedback(const Session& session, const Reading& reading, std::string text, log::Turn& turn) {
  if (reading.code && session.job.mode.kind == jobs::ModeKind::multi_turn) return user_message(std::move(text));
  if (reading.truncated) return user_message(std::string(kCutReply));
  turn.nudged = true;
  return user_message(session.job.mode.nudge);
}

TurnEvent event_of(const Reading& reading) {
  if (reading.refused) return TurnEvent::refused;
  if (reading.truncated) return TurnEvent::truncated;
  return reading.has_calls() || reading.code ? TurnEvent::ok : TurnEvent::no_code;
}

}  // namespace

InfraStop infra_stop(const device::Device& device, const device::Diagnostic& diagnostic) {
  const bool hardware = diagnostic.stage == Stage::run && device.may_be_at_fault();
  return {hardware ? Outcome::device_error : Outcome::verifier_error, diagnostic.message};
}

void compile_submission(Session& session, Submission& submission, log::Turn& turn) {
  const double start = session.clock.monotonic().count();
  submission.compiled = session.device.compile(session.job.task, submission.source, submission.entry);
  turn.compile_s += session.clock.monotonic().count() - start;
  const device::CompileResult& result = *submission.compiled;
  if (!result.ok() && result.diagnostic.code == Code::infra) throw infra_stop(session.device, result.diagnostic);
  turn.compile_ok = result.ok() ? 1 : 0;
  if (result.ok()) {
    turn.estimate_us = result.estimate_us;
  } else {
    turn.stage = result.diagnostic.stage;
    turn.code = result.diagnostic.code;
    turn.line = result.diagnostic.line;
  }
}

void play_turn(Session& session, const Reading& reading) {
  log::Turn turn;
  turn.id = session.job.id;
  turn.turn = session.turns + 1;
  turn.event = event_of(reading);
  turn.max_abs_err = turn.rel_l2 = turn.estimate_us = kNaN;
  std::vector<std::string> flags = reading.flags;
  std::vector<model::Message> answers;
  std::string text;
  if (reading.has_calls()) play_calls(session, reading, turn, flags, answers);
  if (reading.code) text = play_code(session, *reading.code, turn);
  session.ended_by = ends_after(session.job.mode, reading, turn, session.nudged);
  if (session.ended_by == EndedBy::none && !reading.has_calls())
    answers.push_back(feedback(session, reading, std::move(text), turn));
  turn.flags = fmt::format("{}", fmt::join(flags, " "));
  turn.tool_output = to_lines(answers);
  session.append(turn);
  session.turns = turn.turn;
  session.nudged = session.nudged || turn.nudged;
  session.last_event = turn.event;
  session.messages.push_back(reading.message);
  session.messages.insert(session.messages.end(), answers.begin(), answers.end());
  session.pending = std::move(answers);
}

}  // namespace nkigrid::agent
