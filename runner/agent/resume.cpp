#include <algorithm>

#include "runner/agent/session.hpp"
#include "runner/agent/tools.hpp"
#include "runner/model/chat_json.hpp"

namespace nkigrid::agent {
namespace {

/// Enters what one answered call did.
void absorb_call(Session& session, const model::ToolCall& call, const std::string& answer) {
  const std::optional<bool> ok = answered_ok(answer);
  if (!ok) return;  // not run, or arguments that did not fit
  DecodedCall decoded = decode_call(call);
  if (decoded.tool == Tool::compile) {
    session.newest =
        Submission{std::move(decoded.source), std::move(decoded.entry), ++session.submissions, std::nullopt};
    session.current.reset();
    if (*ok) session.current = session.newest;
  } else if (decoded.tool == Tool::verify && *ok) {
    session.best = session.current;
  }
}

void absorb_code(Session& session, const std::string& code, const log::Turn& turn) {
  session.newest = Submission{code, std::nullopt, ++session.submissions, std::nullopt};
  session.current.reset();
  if (turn.compile_ok == 1) session.current = session.newest;
  if (turn.verify_ok == 1) session.best = session.newest;
}

}  // namespace

void absorb_turn(Session& session, const log::LoggedTurn& logged) {
  const log::Turn& turn = *logged.turn;
  const model::ChatReply reply = model::parse_reply(logged.reply.reply);
  const Reading reading = read_reply(reply, session.job.mode, session.job.model.call_recovery);
  std::vector<model::Message> answers = parse_lines(turn.tool_output);
  for (const model::ToolCall& call : reading.message.tool_calls) {
    const auto answer = std::find_if(answers.begin(), answers.end(),
                                     [&](const model::Message& message) { return message.tool_call_id == call.id; });
    if (answer != answers.end()) absorb_call(session, call, answer->content);
  }
  if (reading.code) absorb_code(session, *reading.code, turn);
  session.ended_by = ends_after(session.job.mode, reading, turn, session.nudged);
  session.turns = turn.turn;
  session.nudged = session.nudged || turn.nudged;
  session.last_event = turn.event;
  session.synthetic = session.synthetic || reply.system_fingerprint == model::kSyntheticFingerprint;
  session.messages.push_back(reading.message);
  session.messages.insert(session.messages.end(), answers.begin(), answers.end());
  session.pending = std::move(answers);
}

std::optional<log::Reply> rebuild(Session& session) {
  const auto& history = session.job.history;
  session.messages = parse_lines(history.front().reply.request);
  std::uint32_t expected = 1;
  for (const log::LoggedTurn& logged : history) {
    if (logged.reply.turn != expected++) throw Error(ErrorCode::corrupt, "a turn is missing in the history");
    if (!logged.turn) {
      model::parse_reply(logged.reply.reply);  // must be readable before it is copied
      return logged.reply;
    }
    absorb_turn(session, logged);
  }
  return std::nullopt;
}

}  // namespace nkigrid::agent
