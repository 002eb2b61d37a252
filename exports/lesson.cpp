#include "exports/lesson.hpp"

#include <algorithm>
#include <map>

namespace nkigrid::exports {
namespace {

bool trains(const Story& story, std::uint32_t turn) {
  if (!is_good(story.turns[turn - 1])) return false;
  return turn != final_turn(story) || story.end->passed == 1;
}

/// Turns of which some call does not parse: [t - 1] for turn t.
std::vector<bool> broken_turns(const Dialogue& dialogue) {
  std::vector<bool> broken(dialogue.turns.size(), false);
  for (const auto& [message, turn] : dialogue.utterances) {
    const bool bad = std::any_of(message.tool_calls.begin(), message.tool_calls.end(), [&](const auto& call) {
      return !agent::decode_call(call, dialogue.tools).problem.empty();
    });
    if (bad) broken[turn - 1] = true;
  }
  return broken;
}

/// Puts messages down, with call ids of its own.
class Writer {
 public:
  Writer(const Dialogue& dialogue, const Story& story) : dialogue_(dialogue), story_(story) {}

  void add(const Utterance& said) {
    auto& taught = lesson.messages.emplace_back();
    taught.role = said.message.role;
    taught.content = said.message.content;
    if (taught.role == model::Role::assistant) add_reply(taught, said);
    if (taught.role != model::Role::tool) return;
    const auto call = calls_.find(said.message.tool_call_id);
    if (call == calls_.end()) {
      lesson.messages.pop_back();  // it answers nothing that was said
      return;
    }
    taught.answers = call->second.id;
    taught.tool = call->second.name;
  }

  Lesson lesson;

 private:
  void add_reply(TaughtMessage& taught, const Utterance& said) {
    taught.reasoning = dialogue_.turns[said.turn - 1].reply.reasoning;
    taught.trains = trains(story_, said.turn);
    lesson.trained += taught.trains ? 1 : 0;
    calls_.clear();
    for (const auto& call : said.message.tool_calls) {
      taught.calls.push_back({model::made_call_id(++made_), call.name, agent::decode_call(call, dialogue_.tools)});
      calls_.insert_or_assign(call.id, taught.calls.back());
    }
  }

  const Dialogue& dialogue_;
  const Story& story_;
  std::map<std::string, TaughtCall> calls_;  ///< of the newest reply, by the id that it gave them
  std::size_t made_ = 0;
};

}  // namespace

Lesson lesson_of(const Dialogue& dialogue, const Story& story, LessonEnd end) {
  const auto last = end == LessonEnd::passing_turn ? passing_turn(story) : story.turns.size();
  const auto broken = broken_turns(dialogue);
  Writer writer(dialogue, story);
  for (const auto& said : dialogue.utterances) {
    if (said.turn == 0 || (said.turn <= last && !broken[said.turn - 1])) writer.add(said);
  }
  auto lesson = std::move(writer.lesson);
  lesson.tools = dialogue.tools;
  for (std::size_t turn = 0; turn < last; ++turn) lesson.turns_left_out += broken[turn] ? 1 : 0;
  // What was answered to the last reply taught nobody anything.
  while (!lesson.messages.empty() && lesson.messages.back().role != model::Role::assistant) lesson.messages.pop_back();
  return lesson;
}

}  // namespace nkigrid::exports
