#include "exports/lesson.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/exports/made_story.hpp"

namespace nkigrid::exports {
namespace {

using test::answer, test::ended, test::said, test::told, test::ToldTurn;
using testing::ElementsAre;

const std::string kGood = R"({"kernel_source":"def k(): pass"})";

ToldTurn compiles(const std::string& id, std::int8_t compile_ok, std::int8_t verify_ok = -1) {
  return {.reply = said("trying", {{id, "compile_kernel", kGood}}),
          .answers = {answer(id, "{\"ok\":true}")},
          .kernel = "def k(): pass",
          .compile_ok = compile_ok,
          .verify_ok = verify_ok};
}

Lesson lesson_of_turns(const std::vector<ToldTurn>& turns, bool passed = true, LessonEnd end = LessonEnd::last_turn) {
  const auto run = test::agent_run();
  const auto story = told(turns, ended(passed));
  return lesson_of(dialogue_of(run, story), story, end);
}

std::vector<std::string> roles_of(const Lesson& lesson) {
  constexpr const char* kWords[] = {"system", "user", "assistant", "tool"};
  std::vector<std::string> roles;
  for (const auto& message : lesson.messages)
    roles.push_back(std::string(kWords[static_cast<int>(message.role)]) + (message.trains ? "!" : ""));
  return roles;
}

TEST(Lesson, FailedTurnsAreContextAndTheLastReplyEndsIt) {
  const auto lesson = lesson_of_turns({compiles("a", 0), compiles("b", 1)});
  EXPECT_THAT(roles_of(lesson), ElementsAre("system", "user", "assistant", "tool", "assistant!"));
  EXPECT_EQ(lesson.trained, 1u);
}

TEST(Lesson, AKernelThatFailsTheFinalCheckTrainsNobody) {
  EXPECT_EQ(lesson_of_turns({compiles("a", 1)}, false).trained, 0u);
}

TEST(Lesson, ATurnWhoseCallDoesNotParseIsLeftOutWithItsAnswer) {
  const ToldTurn broken{.reply = said("oops", {{"x", "compile_kernel", "{\"kernel_source\": 7}"}}),
                        .answers = {answer("x", "no such arguments")},
                        .compile_ok = -1,
                        .event = TurnEvent::bad_tool_args};
  const auto lesson = lesson_of_turns({broken, compiles("b", 1)});
  EXPECT_THAT(roles_of(lesson), ElementsAre("system", "user", "assistant!"));
  EXPECT_EQ(lesson.turns_left_out, 1u);
}

TEST(Lesson, ItEndsWithTheTurnThatPassed) {
  const auto lesson =
      lesson_of_turns({compiles("a", 1, 0), compiles("b", 1, 1), compiles("c", 1, 1)}, true, LessonEnd::passing_turn);
  EXPECT_THAT(roles_of(lesson), ElementsAre("system", "user", "assistant", "tool", "assistant!"));
}

TEST(Lesson, CallsAndAnswersShareIdsOfNineCharacters) {
  const ToldTurn both{.reply = said("", {{"?", "compile_kernel", kGood}, {"!", "verify_kernel", "{\"trials\": 2}"}}),
                      .answers = {answer("?", "compiled"), answer("!", "verified"), answer("none", "lost")},
                      .kernel = "def k(): pass"};
  const auto lesson = lesson_of_turns({both, compiles("c", 1)});
  const auto& calls = lesson.messages[2].calls;
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].id.size(), 9u);
  EXPECT_NE(calls[0].id, calls[1].id);
  EXPECT_EQ(calls[1].arguments.trials, 2u);
  // What answers no call of the reply is nobody's.
  EXPECT_THAT(roles_of(lesson), ElementsAre("system", "user", "assistant!", "tool", "tool", "assistant!"));
  EXPECT_EQ(lesson.messages[3].answers, calls[0].id);
  EXPECT_EQ(lesson.messages[4].tool, "verify_kernel");
}

}  // namespace
}  // namespace nkigrid::exports
