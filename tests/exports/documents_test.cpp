#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "exports/atif.hpp"
#include "exports/sft.hpp"
#include "exports/times.hpp"
#include "tests/exports/made_story.hpp"

namespace nkigrid::exports {
namespace {

using test::answer, test::ended, test::said, test::told, test::ToldTurn;
using testing::HasSubstr;
using Json = nlohmann::json;

/// A reply that thinks, says something, and calls with arguments that are no JSON.
std::vector<ToldTurn> odd_turns() {
  auto reply = said("words", {{"c1", "compile_kernel", "not json"}});
  reply.reasoning = "thoughts";
  auto good = said("again", {{"c2", "compile_kernel", R"({"kernel_source":"x\u0000y"})"}});
  good.reasoning = "more";
  return {{.reply = reply, .answers = {answer("c1", "bad")}, .compile_ok = -1, .event = TurnEvent::bad_tool_args},
          {.reply = good, .answers = {answer("c2", "ok")}, .kernel = "x"}};
}

TEST(Atif, KeepsWhatDoesNotParseAsItCame) {
  const auto run = test::agent_run();
  const auto document = Json::parse(atif_document(run, told(odd_turns(), ended(true))));
  const auto& step = document["steps"][2];
  EXPECT_EQ(step["source"], "agent");
  EXPECT_EQ(step["reasoning_content"], "thoughts");
  EXPECT_EQ(step["tool_calls"][0]["arguments"]["raw"], "not json");
  EXPECT_EQ(step["observation"]["results"][0]["source_call_id"], "c1");
  EXPECT_EQ(document["steps"][3]["tool_calls"][0]["arguments"]["kernel_source"], std::string("x\0y", 3));
  EXPECT_EQ(document["final_metrics"]["total_prompt_tokens"], 200);
}

/// Whoever copies or frees a value goes as deep as it nests.
TEST(Atif, KeepsArgumentsOfManyBracketsAsText) {
  const auto run = test::agent_run();
  const std::string deep = R"({"code":)" + std::string(600'000, '[') + std::string(600'000, ']') + "}";
  const auto story = test::told(
      {{.reply = test::said("", {{.id = "c1", .name = "compile_kernel", .arguments = deep}})}}, test::ended(true));
  const auto document = Json::parse(atif_document(run, story));
  EXPECT_EQ(document["steps"][2]["tool_calls"][0]["arguments"]["raw"], deep);
}

/// A forged log: nothing was said before the first request.
TEST(Dialogue, RefusesATaskThatIsPosedByARoleOfLaterTurns) {
  const auto run = test::agent_run();
  for (const auto& first : {said("words", {{"c1", "compile_kernel", "not json"}}).message, answer("c1", "ok")}) {
    auto story = told(odd_turns(), ended(true));
    story.turns.front().reply.request = agent::to_lines({first});
    try {
      dialogue_of(run, story);
      ADD_FAILURE() << "it was read";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::corrupt);
      EXPECT_THAT(error.what(), HasSubstr("a task is posed by system and user"));
    }
  }
}

std::string row_of_odd(SftForm form) {
  const auto run = test::agent_run();
  std::string row;
  SftWriter writer(run, {.form = form, .arguments = ArgumentsAs::object}, [&](std::string_view text) { row += text; });
  writer.add(told(odd_turns(), ended(true)));
  EXPECT_EQ(writer.counts().turns_left_out, 1u);
  return row;
}

TEST(Sft, ReasoningStandsWhereEachFormHasAPlaceForIt) {
  EXPECT_EQ(Json::parse(row_of_odd(SftForm::trl))["messages"][2]["reasoning_content"], "more");
  EXPECT_THAT(Json::parse(row_of_odd(SftForm::sharegpt))["conversations"][2]["value"].get<std::string>(),
              testing::StartsWith("<think>\nmore\n</think>\nagain\n<tool_call>\n{\"name\":\"compile_kernel\""));
  EXPECT_FALSE(Json::parse(row_of_odd(SftForm::openai))["messages"][2].contains("reasoning_content"));
}

TEST(Sft, EpisodesThatGiveNoRowAreCountedByTheirReason) {
  const auto run = test::agent_run();
  std::size_t rows = 0;
  SftWriter writer(run, {.form = SftForm::trl, .passed_only = true, .once = true}, [&](std::string_view) { ++rows; });
  writer.add({.place = 0, .end = std::nullopt});
  auto damaged = told(odd_turns(), ended(true));
  damaged.turns.pop_back();
  writer.add(damaged);
  writer.add(told(odd_turns(), ended(false)));
  writer.add(told(odd_turns(), ended(true)));
  writer.add(told(odd_turns(), ended(true)));
  EXPECT_EQ(rows, 1u);
  EXPECT_THAT(describe(writer.counts()),
              testing::ElementsAre("1 rows of 5 episodes", HasSubstr("1 episodes that are outstanding"),
                                   HasSubstr("1 episodes of whose turns damage took some"),
                                   HasSubstr("1 episodes that did not pass"),
                                   HasSubstr("1 rows that say the same as one before"),
                                   HasSubstr("1 turns with a call that does not parse")));
}

TEST(Times, AreUtcToTheMillisecond) {
  EXPECT_EQ(utc_text(1764516243.12), "2025-11-30T15:24:03.120Z");  // date -u -d @1764516243
  EXPECT_EQ(utc_text(0), "");
}

}  // namespace
}  // namespace nkigrid::exports
