#include "exports/dialogue.hpp"

#include "jobs/base/error.hpp"
#include "runner/agent/modes.hpp"
#include "runner/agent/reading.hpp"
#include "runner/model/chat_json.hpp"

namespace nkigrid::exports {
namespace {

void say(Dialogue& dialogue, const std::string& lines, std::uint32_t turn) {
  for (auto& message : agent::parse_lines(lines)) {
    const bool poses = message.role == model::Role::system || message.role == model::Role::user;
    if (turn == 0 && !poses)
      throw Error(
          ErrorCode::corrupt,
          "a conversation begins with a reply or an answer to one (a task is posed by system and user); its log "
          "was not written by nkigrid, so leave its episode out (--cell, --task)");
    dialogue.utterances.push_back({std::move(message), turn});
  }
}

}  // namespace

Dialogue dialogue_of(const jobs::Run& run, const Story& story) {
  const auto& cell = run.plan.cells[run.plan.episodes[story.place].cell];
  Dialogue dialogue;
  dialogue.tools = agent::tools_of(run.grid.mode(cell.mode));
  const bool recovers = run.grid.model(cell.model).call_recovery;
  for (const auto& logged : story.turns) {
    const auto number = logged.reply.turn;
    if (dialogue.turns.empty()) say(dialogue, logged.reply.request, 0);
    auto reply = model::parse_reply(logged.reply.reply);
    dialogue.utterances.push_back({agent::read_reply(reply, dialogue.tools, recovers).message, number});
    dialogue.turns.push_back({std::move(reply), &logged});
    if (logged.turn) say(dialogue, logged.turn->tool_output, number);
  }
  return dialogue;
}

bool is_good(const log::LoggedTurn& turn) {
  return turn.turn && turn.turn->event == TurnEvent::ok && turn.turn->compile_ok != 0 && turn.turn->verify_ok != 0;
}

std::uint32_t final_turn(const Story& story) {
  for (auto logged = story.turns.rbegin(); logged != story.turns.rend(); ++logged) {
    if (logged->turn && !logged->turn->kernel.empty()) return logged->reply.turn;
  }
  return 0;
}

std::uint32_t passing_turn(const Story& story) {
  if (!story.end || story.end->best_passed != 1) return 0;
  for (const auto& logged : story.turns) {
    if (logged.turn && logged.turn->verify_ok == 1) return logged.reply.turn;
  }
  return story.end->passed == 1 ? final_turn(story) : 0;
}

}  // namespace nkigrid::exports
