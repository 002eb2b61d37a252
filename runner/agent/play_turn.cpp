#include "runner/agent/play_turn.hpp"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/agent/answers.hpp"
#include "runner/agent/calls.hpp"
#include "runner/agent/kernel_steps.hpp"
#include "runner/agent/modes.hpp"
#include "runner/agent/told.hpp"

namespace nkigrid::agent {
namespace {

constexpr std::string_view kCutReply = "Your reply was cut off at its token limit. Answer again, shorter.";

constexpr std::string_view kSubmitted =
    "Your reply held a kernel and no tool call; it was submitted as if you had called the tools.";

std::string compile_text(const device::Diagnostic& diagnostic) {
  if (!diagnostic.message.empty()) return diagnostic.message;
  return fmt::format("compilation failed ({})", to_string(diagnostic.code));
}

/// verify_kernel of a submission that compiles, as the model is told of it.
device::VerifyResult verify(Session& session, const Submission& submission, log::Turn& turn) {
  return told(verify_submission(session, submission, session.job.grid.check.tool_trials, turn),
              session.job.mode.tools.diagnostics);
}

/// What the compiler says of a submission; with `feedback: verify` the tool stream decides where it says nothing.
std::string feedback_text(Session& session, const Submission& submission, log::Turn& turn) {
  const auto compiled = told(*submission.compiled, session.job.mode.tools.diagnostics);
  if (!compiled.ok()) return bounded(compile_text(compiled.diagnostic));
  if (!session.job.mode.feedback_verify) return "";
  const auto result = verify(session, submission, turn);
  if (result.paper_ok) return "";
  return bounded(fmt::format("The kernel compiles, but its output is wrong: {}\n{}", result.diagnostic.message,
                             fmt::join(result.hints, "\n")));
}

/// What the tools answer, in words of one message: there is no call that a tool message could answer.
std::string calls_text(Session& session, const Submission& submission, log::Turn& turn) {
  const auto compiled = told(*submission.compiled, session.job.mode.tools.diagnostics);
  std::string text = fmt::format("{}\ncompile_kernel: {}", kSubmitted, compile_answer(compiled, submission.number, {}));
  if (compiled.ok() && session.job.mode.tools.offers(jobs::Tool::verify)) {
    const auto result = verify(session, submission, turn);
    text += fmt::format("\nverify_kernel: {}", verify_answer(result, submission.number, {}));
  }
  return text;
}

/// Code of a reply without a call: compiled in every mode, so that its row says what became of it.
/// @returns the text that answers it; "" when nothing is to be said
std::string play_code(Session& session, const std::string& code, log::Turn& turn, std::vector<std::string>& flags) {
  Conversation& talk = session.talk;
  Submission submission{code, std::nullopt, ++talk.submissions, std::nullopt};
  turn.kernel = code;
  if (note_source(talk, code)) flags.emplace_back("same_kernel=1");
  compile_submission(session, submission, turn);
  std::string text;
  switch (rules_of(session.job.mode.kind).code_answer) {
    case CodeAnswer::none:
      break;
    case CodeAnswer::feedback:
      text = feedback_text(session, submission, turn);
      break;
    case CodeAnswer::as_calls:
      text = calls_text(session, submission, turn);
      break;
  }
  talk.current.reset();
  if (submission.compiled->ok()) talk.current = submission;
  talk.newest = std::move(submission);
  return text;
}

/// What the harness says to a reply without calls while the episode goes on.
model::Message feedback(const Session& session, const Reading& reading, std::string text, log::Turn& turn) {
  const auto user_message = [](std::string words) {
    return model::Message{model::Role::user, std::move(words), {}, "", false};
  };
  if (reading.code) return user_message(std::move(text));
  if (reading.truncated) return user_message(std::string(kCutReply));
  turn.nudged = true;
  return user_message(session.job.mode.nudge);
}

}  // namespace

void play_turn(Session& session, const Reading& reading) {
  Conversation& talk = session.talk;
  log::Turn turn;
  turn.id = session.job.id;
  turn.turn = talk.turns + 1;
  turn.event = event_of(reading);
  turn.max_abs_err = turn.rel_l2 = turn.estimate_us = kNaN;
  std::vector<std::string> flags = reading.flags;
  std::vector<model::Message> answers = run_calls(session, reading, turn, flags);
  std::string text;
  if (reading.code) text = play_code(session, *reading.code, turn, flags);
  talk.ended_by = ends_after(session.job.mode, reading, turn, talk.nudged);
  if (talk.ended_by == EndedBy::none && !reading.has_calls())
    answers.push_back(feedback(session, reading, std::move(text), turn));
  turn.flags = fmt::format("{}", fmt::join(flags, " "));
  turn.tool_output = to_lines(answers);
  session.append(turn);
  enter_turn(talk, reading, turn, std::move(answers));
}

}  // namespace nkigrid::agent
