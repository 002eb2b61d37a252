#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runner/agent/reread.hpp"
#include "runner/model/chat_json.hpp"

namespace nkigrid::agent {
namespace {

using Json = nlohmann::json;

/// A turn of an agent whose server left its call in the text: `kept` is how its reply was read when it came.
log::LoggedTurn logged(const std::string& text, const model::ChatReply& kept, TurnEvent event, std::uint32_t calls,
                       const std::string& kernel) {
  log::LoggedTurn turn;
  turn.reply.raw = Json{{"choices", {{{"message", {{"role", "assistant"}, {"content", text}}}}}}}.dump();
  turn.reply.reply = model::to_json(kept);
  turn.turn = log::Turn{};
  turn.turn->event = event;
  turn.turn->tool_calls = calls;
  turn.turn->kernel = kernel;
  return turn;
}

const jobs::ModelSpec kServer = {.name = "m", .api = jobs::OpenAi{}};
const jobs::ModeSpec kAgent = {.kind = jobs::ModeKind::tool_agent, .tools = {.offer = jobs::usual_tools()}};
const std::string kCall =
    R"(<tool_call>
{"name": "compile_kernel", "arguments": {"kernel_source": "import x"}}
</tool_call>)";

TEST(Reread, AReplyThatAnOlderReaderTookForSilenceIsReadOtherwise) {
  model::ChatReply kept;
  kept.message = {model::Role::assistant, kCall, {}, "", false};
  const auto read = reread(logged(kCall, kept, TurnEvent::no_code, 0, ""), kServer, kAgent);
  EXPECT_TRUE(read.has_raw);
  EXPECT_EQ(read.then, "no_code");
  EXPECT_TRUE(read.now.starts_with("1 call, kernel ")) << read.now;
}

TEST(Reread, WhatIsReadAsItWasIsNoChange) {
  model::ChatReply kept;
  kept.message = {model::Role::assistant, kCall, {}, "", false};
  const auto read = reread(logged(kCall, kept, TurnEvent::ok, 1, "import x"), kServer, kAgent);
  EXPECT_EQ(read.then, read.now);
  EXPECT_EQ(reread(logged("Hm.", kept, TurnEvent::no_code, 0, ""), kServer, kAgent).then, "no_code");
}

TEST(Reread, WithoutAServersBytesWhatWasKeptIsRead) {
  model::ChatReply kept;
  kept.message = {model::Role::assistant, "Done.", {}, "", false};
  auto turn = logged("Done.", kept, TurnEvent::no_code, 0, "");
  turn.reply.raw.clear();
  const auto read = reread(turn, {.name = "s", .api = jobs::Synthetic{}}, kAgent);
  EXPECT_FALSE(read.has_raw);
  EXPECT_EQ(read.then, read.now);
}

}  // namespace
}  // namespace nkigrid::agent
