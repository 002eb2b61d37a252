#include "runner/tally.hpp"

#include <gtest/gtest.h>

namespace nkigrid::runner {
namespace {

const jobs::CellSpec kTalliedCell{.id = "m.agent.p", .model = "m", .mode = "agent", .prompt = "p"};

/// An attempt in an allocation of two hours; a turn may take whatever its timeouts allow.
struct TallyTest : testing::Test {
  static jobs::Grid grid_of_one_model() {
    jobs::Grid grid;
    grid.models.push_back({.name = "m", .api = jobs::OpenAi{}});
    return grid;
  }
  jobs::Grid grid = grid_of_one_model();
  ManualClock clock;
  TurnClock turns{grid};
  Done done;
  Tally tally{done, turns, clock, kTalliedCell.id};
  TallyTest() { turns.set_end(Seconds(0), Seconds(7200)); }
  void take_a_turn(Seconds time) {
    clock.advance(time);
    tally.see(log::Turn{});
  }
};

TEST_F(TallyTest, ATurnIsAsLongAsItTakesFromTheOneBefore) {
  take_a_turn(Seconds(20));
  take_a_turn(Seconds(40));
  EXPECT_EQ(turns.bound(kTalliedCell), 1.5 * Seconds(40));
}

TEST_F(TallyTest, ATurnIsMeasuredWithoutWhatTheEndpointCost) {
  clock.advance(Seconds(1800));
  tally.waited(Seconds(1800));
  take_a_turn(Seconds(20));
  EXPECT_EQ(turns.bound(kTalliedCell), 1.5 * Seconds(20));
  take_a_turn(Seconds(30));
  EXPECT_EQ(turns.bound(kTalliedCell), 1.5 * Seconds(30)) << "one wait is taken off one turn";
}

TEST_F(TallyTest, AConversationThatTheEndpointEndedHadNoFinalCheck) {
  take_a_turn(Seconds(20));
  log::End end;
  end.outcome = Outcome::api_error;
  clock.advance(Seconds(1800));
  tally.see(end);
  EXPECT_EQ(turns.bound(kTalliedCell), 1.5 * Seconds(20));
  end.outcome = Outcome::pass;
  clock.advance(Seconds(10));
  tally.see(end);
  EXPECT_EQ(turns.bound(kTalliedCell), 1.5 * Seconds(20 + 10));
}

TEST_F(TallyTest, AReplyThatWasTakenOverIsPaidFor) {
  Tally taker(done, turns, clock, kTalliedCell.id, /*takes_over=*/true);
  log::Reply reply;
  reply.tokens_in = 100;
  reply.cost_usd = 0.25;
  taker.see(reply);
  EXPECT_EQ(taker.take_cost().tokens, 0u);
  taker.see(reply);
  const auto cost = taker.take_cost();
  EXPECT_EQ(cost.tokens, 100u);
  EXPECT_EQ(cost.usd, 0.25);
  EXPECT_EQ(taker.take_cost().tokens, 0u) << "told once";
}

TEST_F(TallyTest, AnAttemptTellsWhatItSpentAndHowItEnded) {
  log::Reply reply;
  reply.tokens_in = 100;
  reply.tokens_out = 11;
  reply.cost_usd = 0.25;
  tally.see(reply);
  tally.see(reply);
  EXPECT_FALSE(done.ended);
  log::End end;
  end.outcome = Outcome::verifier_error;
  end.reason = "the device is gone";
  clock.advance(Seconds(10));
  tally.see(end);
  const auto cost = tally.take_cost();
  EXPECT_EQ(cost.tokens, 222u);
  EXPECT_EQ(cost.usd, 0.5);
  EXPECT_TRUE(done.ended);
  EXPECT_EQ(done.outcome, Outcome::verifier_error);
  EXPECT_EQ(done.reason, "the device is gone");
  EXPECT_FALSE(done.on_device);
}

}  // namespace
}  // namespace nkigrid::runner
