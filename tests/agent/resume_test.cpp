#include <gtest/gtest.h>

#include "runner/model/chat_json.hpp"
#include "tests/agent/fakes.hpp"

namespace nkigrid::agent {
namespace {

using jobs::ModeKind;
using test::calls;
using test::compile;
using test::Episode;
using test::kinds;
using test::says;
using test::ScriptedModel;
using test::verify;

std::vector<ScriptedModel::Step> script() {
  return {calls({compile("def a(): 1  # compile: OOB")}),
          says("hm"),
          calls({compile("def b(): 2"), verify(R"({"speed":1})")}),
          calls({verify()}),
          calls({compile("def c(): 3  # verify: NUMERIC_MISMATCH")}),
          says("Done.")};
}

/// The part of a script that is still to be asked when `replies` are durable.
std::vector<ScriptedModel::Step> rest(std::size_t replies) {
  const auto all = script();
  return {all.begin() + static_cast<std::ptrdiff_t>(replies), all.end()};
}

struct Fresh : Episode {
  Fresh() : Episode(ModeKind::tool_agent, 6) { mode.stop_on_pass = false; }
};

void expect_same_end(const log::End& a, const log::End& b) {
  EXPECT_EQ(a.outcome, b.outcome);
  EXPECT_EQ(a.ended_by, b.ended_by);
  EXPECT_EQ(a.passed, b.passed);
  EXPECT_EQ(a.best_passed, b.best_passed);
  EXPECT_EQ(a.turns, b.turns);
  EXPECT_EQ(a.nudged, b.nudged);
}

TEST(Resume, AKillAfterAnyRecordGivesTheSameEnd) {
  Fresh whole;
  ScriptedModel model(script());
  whole.run(model);
  ASSERT_EQ(kinds(whole.records), "BRTRTRTRTRTRTE");
  EXPECT_EQ(whole.end().best_passed, 1);
  for (std::size_t n = 0; n + 1 < whole.records.size(); ++n) {
    Fresh again;
    again.attempt = 2;
    again.history = whole.durable(n);
    std::size_t replies = again.history.size();
    ScriptedModel remaining(rest(replies));
    EXPECT_EQ(again.run(remaining), EpisodeExit::ended) << n;
    expect_same_end(again.end(), whole.end());
    for (std::size_t i = 0; i < remaining.requests.size(); ++i) {
      EXPECT_EQ(remaining.requests[i].messages.size(), model.requests[replies + i].messages.size()) << n;
      EXPECT_EQ(model::to_json(remaining.requests[i].messages.back()),
                model::to_json(model.requests[replies + i].messages.back()))
          << n;
    }
  }
}

TEST(Resume, AnUnansweredReplyIsCopiedAndItsToolsAreRunNotPaidFor) {
  Fresh first;
  ScriptedModel model(script());
  first.run(model);
  Fresh second;
  second.attempt = 2;
  second.history = first.durable(2);  // begin, reply
  ScriptedModel remaining(rest(1));
  second.run(remaining);
  EXPECT_TRUE(kinds(second.records).starts_with("BRTRT"));
  EXPECT_EQ(std::get<log::Begin>(second.records[0]).inherited_turns, 0u);
  EXPECT_EQ(second.all<log::Reply>()[0].id.attempt, 2u);
  EXPECT_EQ(second.all<log::Reply>()[0].reply, first.all<log::Reply>()[0].reply);
  EXPECT_EQ(second.end().tokens_in, 500u);  // five replies of its own
  EXPECT_EQ(second.end().turns, 6u);
}

TEST(Resume, TheCurrentKernelIsCompiledAgainWhenItIsNeeded) {
  Fresh first;
  ScriptedModel model(script());
  first.run(model);
  Fresh second;
  second.attempt = 2;
  second.history = first.durable(7);  // three turns
  ScriptedModel remaining(rest(3));
  second.run(remaining);
  EXPECT_EQ(second.end().inherited_turns, 3u);
  EXPECT_EQ(second.turn(0).compile_ok, log::kNotDone);  // recompiling is no part of the turn
  EXPECT_EQ(second.turn(0).verify_ok, 1);
  EXPECT_NE(second.turn(0).tool_output.find("k2"), std::string::npos);  // numbered as before
}

TEST(Resume, AFinishedLoopOnlyNeedsItsFinalCheck) {
  Episode first(ModeKind::multi_turn, 5);
  ScriptedModel model({says(test::fence("def a(): 1"))});
  first.run(model);
  Episode second(ModeKind::multi_turn, 5);
  second.attempt = 2;
  second.history = first.durable(3);
  ScriptedModel none({});
  second.run(none);
  EXPECT_EQ(kinds(second.records), "BE");
  EXPECT_EQ(second.end().outcome, Outcome::pass);
  EXPECT_EQ(second.end().ended_by, EndedBy::compiled);
  EXPECT_EQ(second.end().tokens_in, 0u);
}

TEST(Resume, ADamagedHistoryStartsAfresh) {
  Fresh first;
  ScriptedModel model(script());
  first.run(model);
  Fresh second;
  second.attempt = 2;
  second.history = first.durable(7);
  second.history[1].reply.reply = "{";
  ScriptedModel again(script());
  second.run(again);
  EXPECT_EQ(std::get<log::Begin>(second.records[0]).inherited_turns, 0u);
  expect_same_end(second.end(), first.end());
}

}  // namespace
}  // namespace nkigrid::agent
