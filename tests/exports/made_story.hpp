#pragma once

#include <string>
#include <vector>

#include "exports/dialogue.hpp"
#include "runner/agent/reading.hpp"
#include "runner/model/chat_json.hpp"
#include "tests/aggregate/made_run.hpp"

namespace nkigrid::test {

/// What a turn of a hand-made episode was.
struct ToldTurn {
  model::ChatReply reply;
  std::vector<model::Message> answers = {};
  std::string kernel = {};
  std::int8_t compile_ok = 1, verify_ok = -1;
  TurnEvent event = TurnEvent::ok;
};

inline model::ChatReply said(std::string content, std::vector<model::ToolCall> calls = {}) {
  model::ChatReply reply;
  reply.message = {.role = model::Role::assistant, .content = std::move(content), .tool_calls = std::move(calls)};
  reply.usage = {.input = 100, .output = 20, .cached = 7};
  return reply;
}

inline model::Message answer(std::string id, std::string content) {
  return {.role = model::Role::tool, .content = std::move(content), .tool_call_id = std::move(id)};
}

/// One cell with tools, one task, one episode.
inline jobs::Run agent_run() {
  auto run = made_run({"m.agent.p"}, made_tasks("L1", 1), 1, [](const auto&) { return ended(true); }).run;
  run.grid.modes.front().kind = jobs::ModeKind::tool_agent;
  run.grid.modes.front().tools.offer = jobs::usual_tools();
  return run;
}

inline exports::Story told(const std::vector<ToldTurn>& turns, log::End end) {
  exports::Story story{.place = 0, .end = std::move(end)};
  story.end->turns = static_cast<std::uint32_t>(turns.size());
  std::string request = agent::to_lines(
      {{.role = model::Role::system, .content = "be brief"}, {.role = model::Role::user, .content = "write a kernel"}});
  std::uint32_t number = 0;
  for (const auto& told : turns) {
    log::LoggedTurn logged;
    logged.reply.turn = ++number;
    logged.reply.request = request;
    logged.reply.reply = model::to_json(told.reply);
    logged.reply.tokens_in = told.reply.usage.input;
    logged.reply.tokens_out = told.reply.usage.output;
    logged.turn = log::Turn{.turn = number, .event = told.event};
    logged.turn->compile_ok = told.compile_ok;
    logged.turn->verify_ok = told.verify_ok;
    logged.turn->kernel = told.kernel;
    logged.turn->tool_output = request = agent::to_lines(told.answers);
    story.turns.push_back(std::move(logged));
  }
  return story;
}

}  // namespace nkigrid::test
