#include "runner/dealer.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/runner/plan_fixture.hpp"

namespace nkigrid::runner {
namespace {

Done ended(std::uint32_t episode, Outcome outcome, std::string node = "n1") {
  return {.episode = episode, .ended = true, .begun = true, .outcome = outcome, .node = std::move(node), .tokens = 10, .cost_usd = 1.0};
}

TEST(Dealer, DealsEachEpisodeOnceInOrder) {
  PlanFixture f(3);
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  const auto first = dealer.deal(4, "n1");
  const auto rest = dealer.deal(100, "n1");
  ASSERT_EQ(first.size(), 4u);
  ASSERT_EQ(rest.size(), 2u);
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(first[i].episode, i);
  EXPECT_EQ(first[0].attempt, 1u);
  EXPECT_TRUE(dealer.exhausted());
  EXPECT_FALSE(dealer.idle());
}

TEST(Dealer, SkipsWhatTheLedgerCounts) {
  PlanFixture f(2);
  f.ledger.states[1].counted_attempt = 1;
  f.ledger.ends[1] = log::End{.outcome = Outcome::pass};
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  EXPECT_EQ(dealer.scored(), 1u);
  EXPECT_EQ(dealer.passed(), 1u);
  for (const auto& work : dealer.deal(9, "n1")) EXPECT_NE(work.episode, 1u);
}

TEST(Dealer, ATakeoverNamesTheDeadAttempt) {
  PlanFixture f(1);
  f.ledger.states[0].attempts = 2;
  f.ledger.states[0].unfinished = true;
  f.ledger.states[0].last_node = "n7";
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  const auto work = dealer.deal(1, "n1");
  EXPECT_EQ(work[0].attempt, 3u);
  EXPECT_EQ(work[0].dead_attempt, 2u);
  EXPECT_EQ(work[0].dead_node, "n7");
}

TEST(Dealer, AnInfrastructureFailureIsDealtAgainAndThenParked) {
  PlanFixture f(1);
  f.order = {0};
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  EXPECT_EQ(dealer.deal(1, "n1")[0].attempt, 1u);
  dealer.take(ended(0, Outcome::api_error));
  EXPECT_FALSE(dealer.exhausted());
  EXPECT_EQ(dealer.deal(1, "n1")[0].attempt, 2u);
  auto last = ended(0, Outcome::verifier_error);
  last.reason = "the canary failed";
  dealer.take(last);
  EXPECT_TRUE(dealer.exhausted());
  EXPECT_EQ(dealer.last_failure(), "verifier_error: the canary failed");
  EXPECT_EQ(dealer.scored(), 0u);
}

TEST(Dealer, ARetryGoesToAnotherNodeWhereThereIsOne) {
  PlanFixture f(1);
  f.order = {0};
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  dealer.deal(0, "n2");
  dealer.deal(1, "n1");
  dealer.take(ended(0, Outcome::device_error, "n1"));
  EXPECT_TRUE(dealer.deal(1, "n1").empty());
  EXPECT_EQ(dealer.deal(1, "n2").size(), 1u);
}

TEST(Dealer, ParkedEpisodesComeBackOnlyWhenAsked) {
  PlanFixture f(1);
  f.ledger.states[0].outstanding = log::Outstanding::parked;
  f.ledger.states[0].attempts = 2;
  EXPECT_EQ(Dealer(f.plan, f.grid, f.order, f.ledger, false).deal(9, "n").size(), 1u);
  EXPECT_EQ(Dealer(f.plan, f.grid, f.order, f.ledger, true).deal(9, "n").size(), 2u);
}

TEST(Dealer, AWorkerThatNeverBeganGivesTheAttemptBack) {
  PlanFixture f(1);
  f.order = {0};
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  dealer.deal(1, "n1");
  dealer.take({.episode = 0, .ended = false, .begun = false, .node = "n1"});
  EXPECT_EQ(dealer.deal(1, "n1")[0].attempt, 1u);
  dealer.take({.episode = 0, .ended = false, .begun = true, .node = "n1"});
  const auto again = dealer.deal(1, "n1");
  EXPECT_EQ(again[0].attempt, 2u);
  EXPECT_EQ(again[0].dead_attempt, 1u);
}

TEST(Dealer, AStoppedModelKeepsTheOtherOnesGoing) {
  PlanFixture f(2);
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  dealer.stop_model("a", "quota of a is used up");
  const auto work = dealer.deal(9, "n1");
  ASSERT_EQ(work.size(), 2u);
  for (const auto& w : work) EXPECT_EQ(f.plan.cells[f.plan.episodes[w.episode].cell].model, "b");
  EXPECT_TRUE(dealer.exhausted());
  EXPECT_EQ(dealer.stopped_by(), "quota of a is used up");
}

TEST(Dealer, ARunBudgetStopsDealing) {
  PlanFixture f(3);
  f.grid.budget.usd = 2.0;
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  dealer.deal(2, "n1");
  dealer.take(ended(0, Outcome::pass));
  EXPECT_FALSE(dealer.stopped());
  dealer.take(ended(1, Outcome::mismatch));
  EXPECT_TRUE(dealer.stopped());
  EXPECT_TRUE(dealer.deal(1, "n1").empty());
  EXPECT_NE(dealer.stopped_by().find("budget.usd"), std::string::npos);
}

TEST(Dealer, ACellBudgetStopsThatCellOnly) {
  PlanFixture f(3);
  f.plan.cells[0].budget.tokens = 10;
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  dealer.deal(1, "n1");
  dealer.take(ended(0, Outcome::pass));
  for (const auto& w : dealer.deal(9, "n1")) EXPECT_EQ(f.plan.episodes[w.episode].cell, 1u);
}

TEST(Dealer, AWallBudgetStopsDealing) {
  PlanFixture f(1);
  f.grid.budget.wall = Seconds(60);
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  dealer.set_elapsed(Seconds(59));
  EXPECT_FALSE(dealer.stopped());
  dealer.set_elapsed(Seconds(60));
  EXPECT_TRUE(dealer.stopped());
}

}  // namespace
}  // namespace nkigrid::runner
