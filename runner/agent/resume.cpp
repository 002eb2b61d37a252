#include "runner/agent/resume.hpp"

#include <algorithm>

#include "runner/agent/answers.hpp"
#include "runner/agent/modes.hpp"
#include "runner/agent/tools.hpp"
#include "runner/model/chat_json.hpp"

namespace nkigrid::agent {
namespace {

/// Enters what one answered call did.
void absorb_call(Conversation& talk, const std::vector<model::ToolSpec>& tools, const model::ToolCall& call,
                 const std::string& answer) {
  const std::optional<bool> ok = answered_ok(answer);
  if (!ok) return;  // not run, or arguments that did not fit
  DecodedCall decoded = decode_call(call, tools);
  if (decoded.tool == jobs::Tool::compile) {
    note_source(talk, decoded.source);
    talk.newest = Submission{std::move(decoded.source), std::move(decoded.entry), ++talk.submissions, std::nullopt};
    talk.current.reset();
    if (*ok) talk.current = talk.newest;
  } else if (decoded.tool == jobs::Tool::verify && *ok) {
    talk.best = talk.current;
  }
}

void absorb_code(Conversation& talk, const std::string& code, const log::Turn& turn) {
  note_source(talk, code);
  talk.newest = Submission{code, std::nullopt, ++talk.submissions, std::nullopt};
  talk.current.reset();
  if (turn.compile_ok == 1) talk.current = talk.newest;
  if (turn.verify_ok == 1) talk.best = talk.newest;
}

/// Enters a finished turn of an earlier attempt.
void absorb_turn(Conversation& talk, const EpisodeJob& job, const log::LoggedTurn& logged) {
  const log::Turn& turn = *logged.turn;
  const model::ChatReply reply = model::parse_reply(logged.reply.reply);
  trim_to(talk, reply.trimmed);
  const Reading reading = hear(talk, job, reply);
  std::vector<model::Message> answers = parse_lines(turn.tool_output);
  const auto tools = tools_of(job.mode);
  for (const model::ToolCall& call : reading.message.tool_calls) {
    const auto answer = std::find_if(answers.begin(), answers.end(),
                                     [&](const model::Message& message) { return message.tool_call_id == call.id; });
    if (answer != answers.end()) absorb_call(talk, tools, call, answer->content);
  }
  if (reading.code) absorb_code(talk, *reading.code, turn);
  talk.ended_by = ends_after(job.mode, reading, turn, talk.nudged);
  enter_turn(talk, reading, turn, std::move(answers));
}

}  // namespace

Rebuilt rebuild(const EpisodeJob& job) {
  Rebuilt rebuilt;
  rebuilt.talk.messages = parse_lines(job.history.front().reply.request);
  std::uint32_t expected = 1;
  for (const log::LoggedTurn& logged : job.history) {
    if (logged.reply.turn != expected++) throw Error(ErrorCode::corrupt, "a turn is missing in the history");
    if (!logged.turn) {
      model::parse_reply(logged.reply.reply);  // must be readable before it is copied
      rebuilt.unanswered = logged.reply;
      break;
    }
    absorb_turn(rebuilt.talk, job, logged);
  }
  return rebuilt;
}

}  // namespace nkigrid::agent
