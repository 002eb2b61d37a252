#include "runner/budgets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runner/plan_fixture.hpp"

namespace nkigrid::runner {
namespace {

using testing::HasSubstr;

/// Eight tasks over four shards.
struct BudgetsTest : testing::Test {
  PlanFixture f{8};
  BudgetsTest() {
    f.plan.shards = 4;
    for (auto& episode : f.plan.episodes) episode.shard = episode.task % 4;
  }
  std::vector<std::uint32_t> shard(std::uint32_t number) const {
    std::vector<std::uint32_t> own;
    for (std::uint32_t i = 0; i < f.plan.episodes.size(); ++i) {
      if (f.plan.episodes[i].shard == number) own.push_back(i);
    }
    return own;
  }
  Budgets of(const std::vector<std::uint32_t>& order) const { return {f.plan, f.grid, f.ledger, order, false}; }
  void score(std::uint32_t number, double usd_each) {
    for (const auto episode : shard(number)) {
      f.ledger.states[episode].counted_attempt = 1;
      f.ledger.states[episode].spent_usd = usd_each;
    }
  }
};

TEST_F(BudgetsTest, ASessionOnAllShardsHasTheWholeAndEachShardItsPart) {
  f.grid.budget.usd = 4;
  auto all = of(f.order);
  all.spend(0, 3.9, 1);
  EXPECT_EQ(all.of_run(), "");
  all.spend(1, 0.2, 1);
  EXPECT_EQ(all.of_run(), "budget.usd 4");
  auto part = of(shard(2));
  part.spend(0, 0.9, 1);
  EXPECT_EQ(part.of_run(), "");
  part.spend(0, 0.2, 1);
  EXPECT_EQ(part.of_run(), "budget.usd 1 (this shard's part of 4)");
}

TEST_F(BudgetsTest, WhatAShardThatIsThroughLeftIsTheOthers) {
  f.grid.budget.usd = 4;
  score(0, 0.1);  // four episodes
  auto part = of(shard(1));
  part.spend(0, 1.19, 1);
  EXPECT_EQ(part.of_run(), "") << "a third of 3.6";
  part.spend(0, 0.02, 1);
  EXPECT_THAT(part.of_run(), HasSubstr("(this shard's part of 4)"));
}

TEST_F(BudgetsTest, PartsGivenAtDifferentTimesAreNeverMoreThanTheWhole) {
  f.grid.models[0].budget.tokens = 1000;
  std::uint64_t spent = 0;
  for (const std::uint32_t number : {3U, 0U, 2U, 1U}) {
    auto part = of(shard(number));
    std::uint64_t own = 0;
    while (part.of_model(0).empty() && own < 100 + 100 * number) part.spend(0, 0, 1), ++own;
    spent += own;
    const auto episodes = shard(number);
    for (const auto episode : episodes) {
      f.ledger.states[episode].counted_attempt = own < 100 + 100 * number ? 0 : 1;  // else stopped by its part
    }
    f.ledger.states[episodes.front()].spent_tokens = own;
  }
  EXPECT_LE(spent, 1000U);
}

TEST_F(BudgetsTest, AModelsBudgetIsItsOwn) {
  f.grid.models[1].budget.tokens = 5;
  auto budgets = of(f.order);
  budgets.spend(0, 0, 100);
  EXPECT_EQ(budgets.of_model(1), "");
  budgets.spend(1, 0, 5);
  EXPECT_EQ(budgets.of_model(1), "budget.tokens 5");
  EXPECT_EQ(budgets.of_run(), "");
}

TEST_F(BudgetsTest, AGridWithoutOneTellsNoCosts) {
  EXPECT_FALSE(has_budget(f.grid));
  f.grid.models[1].budget.wall = Seconds(1);
  EXPECT_TRUE(has_budget(f.grid));
}

}  // namespace
}  // namespace nkigrid::runner
