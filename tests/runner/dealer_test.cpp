#include "runner/dealer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <deque>
#include <map>
#include <set>

#include "tests/runner/plan_fixture.hpp"

namespace nkigrid::runner {
namespace {

Done ended(std::uint32_t episode, Outcome outcome, std::string node = "n1") {
  return {.episode = episode,
          .ended = true,
          .begun = true,
          .outcome = outcome,
          .on_device = outcome == Outcome::pass,
          .node = std::move(node)};
}

/// What a reply of an episode's cell cost.
Spent reply_of(const PlanFixture& f, std::uint32_t episode, double usd = 1.0) {
  return {.cell = f.plan.episodes[episode].cell, .tokens = 10, .cost_usd = usd};
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

TEST(Dealer, ModelsThatStopForDifferentReasonsAreEachNamed) {
  PlanFixture f(2);
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  dealer.stop_model("a", "model a: HTTP 401");
  dealer.stop_model("a", "model a: HTTP 401, of another lane");
  dealer.stop_model("b", "model b: the quota is used up");
  EXPECT_EQ(dealer.stopped_by(), "model a: HTTP 401; model b: the quota is used up");
  for (const auto& cell : f.plan.cells) dealer.stop_cell(cell.id, "time limit: cell " + cell.id);
  dealer.stop_all("SIGTERM");
  dealer.stop_all("SIGTERM");
  EXPECT_EQ(dealer.stopped_by(),
            "model a: HTTP 401; model b: the quota is used up; time limit: cell " + f.plan.cells[0].id);
}

TEST(Dealer, ARunBudgetStopsDealing) {
  PlanFixture f(3);
  f.grid.budget.usd = 2.0;
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  dealer.deal(2, "n1");
  dealer.spend(reply_of(f, 0));
  EXPECT_FALSE(dealer.stopped());
  dealer.spend(reply_of(f, 1));
  EXPECT_TRUE(dealer.stopped()) << "while both are in flight";
  EXPECT_TRUE(dealer.deal(1, "n1").empty());
  EXPECT_NE(dealer.stopped_by().find("budget.usd"), std::string::npos);
}

TEST(Dealer, ABudgetKnowsWhatAttemptsThatDoNotCountHaveSpent) {
  PlanFixture f(3);
  f.grid.budget.usd = 2.0;
  f.ledger.states[2].spent_usd = 1.5;
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  dealer.deal(1, "n1");
  dealer.spend(reply_of(f, 0));
  EXPECT_TRUE(dealer.stopped());
}

TEST(Dealer, AnAttemptThatDiedHereIsNamedToTheNext) {
  PlanFixture f(1);
  f.ledger.states[0].attempts = 1;
  f.ledger.states[0].unfinished = true;
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  const auto first = dealer.deal(1, "n1");
  EXPECT_EQ(first[0].dead_attempt, 1u);
  dealer.take({.episode = first[0].episode, .ended = false, .begun = true, .node = "n1"});
  const auto rest = dealer.deal(9, "n1");
  const auto again =
      std::find_if(rest.begin(), rest.end(), [&](const auto& work) { return work.episode == first[0].episode; });
  ASSERT_NE(again, rest.end());
  EXPECT_EQ(again->dead_attempt, 2u);
}

TEST(Dealer, ACellBudgetStopsThatCellOnly) {
  PlanFixture f(3);
  f.plan.cells[0].budget.tokens = 10;
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  dealer.deal(1, "n1");
  dealer.spend(reply_of(f, 0));
  EXPECT_EQ(dealer.take_closed(), std::vector<std::uint32_t>{0}) << "its lanes are to stop between turns";
  EXPECT_TRUE(dealer.take_closed().empty()) << "told once";
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

TEST(Dealer, AnOwnersAttemptsAreNumberedFromItsOwnNumberOn) {
  PlanFixture f(1);
  f.order = {0, 1};
  f.ledger.states[1].attempts = 7;
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false, 3);
  const auto work = dealer.deal(2, "n1");
  EXPECT_EQ(work[0].attempt, 3u) << "an earlier owner that lives on may begin 1 and 2";
  EXPECT_FALSE(work[0].resumed);
  EXPECT_EQ(work[1].attempt, 8u);
  EXPECT_TRUE(work[1].resumed);
}

TEST(Dealer, ANodeThatEatsEpisodesGetsNoMoreWhileAnotherOneWorks) {
  PlanFixture f(20);
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  dealer.take(ended(dealer.deal(1, "good")[0].episode, Outcome::pass, "good"));
  for (std::uint32_t i = 0; i < log::kNodeFailures; ++i)
    dealer.take(ended(dealer.deal(1, "bad")[0].episode, Outcome::device_error, "bad"));
  EXPECT_TRUE(dealer.deal(1, "bad").empty());
  EXPECT_EQ(dealer.deal(1, "good").size(), 1u);
  EXPECT_FALSE(dealer.stopped());
}

TEST(Dealer, AloneWithADeviceThatFailsEverythingItStopsBeforeTriesAreUsedUp) {
  PlanFixture f(20);
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  for (std::uint32_t i = 0; i < log::kNodeFailures; ++i)
    dealer.take(ended(dealer.deal(1, "bad")[0].episode, Outcome::device_error, "bad"));
  EXPECT_TRUE(dealer.stopped());
  EXPECT_NE(dealer.stopped_by().find("node bad"), std::string::npos);
}

TEST(Dealer, RepliesWithoutCodeVouchForNoDevice) {
  PlanFixture f(20);
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  for (std::uint32_t i = 0; i < 9; ++i) dealer.take(ended(dealer.deal(1, "bad")[0].episode, Outcome::no_code, "bad"));
  for (std::uint32_t i = 0; i < log::kNodeFailures; ++i) {
    EXPECT_FALSE(dealer.stopped());
    dealer.take(ended(dealer.deal(1, "bad")[0].episode, Outcome::truncated, "bad"));
    dealer.take(ended(dealer.deal(1, "bad")[0].episode, Outcome::device_error, "bad"));
  }
  EXPECT_TRUE(dealer.stopped());
}

TEST(Dealer, ADeviceThatBreaksInMidRunIsFoundOutAsSoon) {
  PlanFixture f(100);
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  for (int i = 0; i < 50; ++i) dealer.take(ended(dealer.deal(1, "n1")[0].episode, Outcome::pass));
  const auto lanes = dealer.deal(8, "n1");  // in flight when it breaks: their failures are one
  for (const auto& work : lanes) dealer.take(ended(work.episode, Outcome::device_error));
  EXPECT_FALSE(dealer.stopped());
  for (std::uint32_t i = 1; i < log::kNodeFailures; ++i)
    dealer.take(ended(dealer.deal(1, "n1")[0].episode, Outcome::device_error));
  EXPECT_TRUE(dealer.stopped());
}

TEST(Dealer, WhereEveryNodeIsBadItStopsToo) {
  PlanFixture f(50);
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  for (const char* node : {"n1", "n2"}) dealer.deal(0, node);
  for (std::uint32_t i = 0; i < 2 * log::kNodeFailures && !dealer.stopped(); ++i) {
    const auto* node = i % 2 == 0 ? "n1" : "n2";
    dealer.take(ended(dealer.deal(1, node)[0].episode, Outcome::device_error, node));
  }
  EXPECT_TRUE(dealer.stopped());
}

TEST(Dealer, AloneWithABadNodeNothingIsParkedHoweverFewWaitAndHoweverManyLanes) {
  for (const std::uint32_t tasks : {1U, 2U, 3U, 8U}) {
    for (const std::uint32_t lanes : {1U, 4U, 32U}) {
      PlanFixture f(tasks);
      f.grid.infra_retries = 5;
      Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
      std::deque<Assignment> at_work;
      while (!dealer.stopped()) {
        for (const auto& work : dealer.deal(lanes - static_cast<std::uint32_t>(at_work.size()), "bad"))
          at_work.push_back(work);
        ASSERT_FALSE(at_work.empty()) << tasks << " " << lanes;
        dealer.take(ended(at_work.front().episode, Outcome::verifier_error, "bad"));
        at_work.pop_front();
      }
      for (const auto& work : at_work) dealer.take(ended(work.episode, Outcome::verifier_error, "bad"));
      EXPECT_EQ(dealer.waiting(), 2 * tasks) << lanes;
      EXPECT_LE(dealer.failed_attempts(), 2 * log::kNodeFailures + lanes);
    }
  }
}

TEST(Dealer, WhatWasParkedByANodeThatIsFoundOutGoesToAnother) {
  PlanFixture f(3);
  f.grid.infra_retries = 1;
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  dealer.deal(0, "good");
  for (const auto& work : dealer.deal(1, "bad")) dealer.take(ended(work.episode, Outcome::device_error, "bad"));
  EXPECT_EQ(dealer.waiting(), 5u);
  for (std::uint32_t i = 1; i < log::kNodeFailures; ++i)
    dealer.take(ended(dealer.deal(1, "bad")[0].episode, Outcome::device_error, "bad"));
  EXPECT_FALSE(dealer.stopped());
  EXPECT_EQ(dealer.deal(9, "good").size(), 6u);
}

TEST(Dealer, AnEpisodeThatFailsWhereOthersScoreIsParkedAndBlamesNoNode) {
  PlanFixture f(8);
  f.grid.infra_retries = 5;
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  const std::set<std::uint32_t> causes = {0, 1};
  std::map<std::uint32_t, std::uint32_t> tries;
  while (!dealer.exhausted()) {
    const auto work = dealer.deal(1, "n1").at(0);
    const bool fails = causes.contains(work.episode);
    ++tries[work.episode];
    dealer.take(ended(work.episode, fails ? Outcome::verifier_error : Outcome::pass));
  }
  EXPECT_FALSE(dealer.stopped());
  EXPECT_EQ(tries[0], 5u);
  EXPECT_EQ(tries[1], 5u);
  EXPECT_EQ(dealer.scored(), 14u);
}

TEST(Dealer, ANodeThatFailsMoreThanItScoresIsFoundOutToo) {
  PlanFixture f(20);
  f.grid.infra_retries = 5;
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  for (int i = 0; i < 8 && !dealer.stopped(); ++i)
    dealer.take(ended(dealer.deal(1, "n1")[0].episode, i % 4 == 3 ? Outcome::pass : Outcome::device_error));
  EXPECT_TRUE(dealer.stopped());
}

TEST(Dealer, AnEpisodeThatAnEndpointFailedMayGoToTheSameNode) {
  PlanFixture f(1);
  f.order = {0};
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  dealer.deal(0, "n2");
  dealer.deal(1, "n1");
  dealer.take(ended(0, Outcome::api_error, "n1"));
  EXPECT_EQ(dealer.deal(1, "n1").size(), 1u);
}

TEST(Dealer, AnEndpointThatFailsIsNoNodesFault) {
  PlanFixture f(20);
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  for (int i = 0; i < 9; ++i) dealer.take(ended(dealer.deal(1, "n1")[0].episode, Outcome::api_error, "n1"));
  EXPECT_FALSE(dealer.stopped());
}

TEST(Dealer, AStoppedCellKeepsTheOtherOnesGoing) {
  PlanFixture f(2);
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  dealer.stop_cell("a.ss.naive", "time limit");
  EXPECT_EQ(dealer.deal(9, "n1").size(), 2u);
  EXPECT_TRUE(dealer.exhausted());
  EXPECT_EQ(dealer.stopped_by(), "time limit");
}

TEST(Dealer, AMillionEpisodesAreDealtAndTakenInLinearTimeWhateverStopsAndFails) {
  // A list that is searched or erased from in the middle would take hours here. CPU time, since other tests may run
  // beside this one.
  PlanFixture f(500'000);
  f.grid.models[0].budget.usd = 1000;
  f.grid.infra_retries = 100;
  const auto start = std::clock();
  Dealer dealer(f.plan, f.grid, f.order, f.ledger, false);
  std::uint64_t dealt = 0;
  while (!dealer.exhausted()) {
    for (const char* node : {"n1", "n2"}) {
      for (const auto& work : dealer.deal(1000, node)) {
        const bool fails = work.episode % 3 == 0 && work.attempt == 1;  // on the node that got it first
        dealer.spend(reply_of(f, work.episode, 0.01));
        dealer.take(ended(work.episode, fails ? Outcome::device_error : Outcome::pass, node));
        ++dealt;
      }
    }
  }
  EXPECT_NE(dealer.stopped_by().find("model a"), std::string::npos);  // its budget: 100,000 episodes of 0.01 USD
  EXPECT_GT(dealt, 700'000U);
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 20.0);
}

TEST(WaitingList, WhatFailedOnANodePassesItByAndIsFoundByAnother) {
  WaitingList list;
  const std::string none, bad = "n1";
  for (std::uint32_t i = 0; i < 4; ++i) list.add(i);
  const auto failed_on = [&](std::uint32_t episode) -> const std::string& { return episode == 1 ? bad : none; };
  EXPECT_EQ(list.take("n1", failed_on), 0U);
  EXPECT_EQ(list.take("n1", failed_on), 2U);
  list.add_back(2, "n2");
  EXPECT_EQ(list.take("n1", failed_on), 3U);
  EXPECT_EQ(list.take("n1", failed_on), 2U);
  EXPECT_EQ(list.take("n1", failed_on), std::nullopt);
  EXPECT_EQ(list.size(), 1U);
  EXPECT_EQ(list.take("n2", failed_on), 1U);
  EXPECT_TRUE(list.empty());
}

TEST(WaitingList, WhatIsErasedIsNeverTaken) {
  WaitingList list;
  const std::string none;
  for (std::uint32_t i = 0; i < 10; ++i) list.add(i);
  const auto failed_on = [&](std::uint32_t) -> const std::string& { return none; };
  list.add_back(*list.take(std::nullopt, failed_on), "");
  list.erase_if([](std::uint32_t episode) { return episode % 2 == 0; });
  std::vector<std::uint32_t> taken;
  while (const auto episode = list.take(std::nullopt, failed_on)) taken.push_back(*episode);
  EXPECT_EQ(taken, (std::vector<std::uint32_t>{1, 3, 5, 7, 9}));
}

}  // namespace
}  // namespace nkigrid::runner
