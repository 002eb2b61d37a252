#include "aggregate/statistics/variance.hpp"

#include <gtest/gtest.h>

#include "aggregate/statistics/intervals.hpp"

namespace nkigrid::aggregate {
namespace {

TEST(Variance, SplitsIntoTasksAndReplicates) {
  // numpy: ph.var(ddof=1) - s2/3 and s2 = (3/2 ph (1 - ph)).mean()
  std::vector<TaskCount> tasks;
  for (const std::uint32_t passed : {3, 1, 0, 2, 3, 0, 1, 1}) tasks.push_back({passed, 3, 0});
  const auto split = variance_split(tasks);
  ASSERT_TRUE(split);
  EXPECT_NEAR(split->between_replicates, 0.16666666666666669, 1e-15);
  EXPECT_NEAR(split->between_tasks, 0.10119047619047622, 1e-15);
  EXPECT_NEAR(*split->share_of_tasks(), 0.10119047619 / (0.10119047619 + 0.16666666667), 1e-9);
}

TEST(Variance, OfTasksIsWithinLevels) {
  // Two levels far apart, alike inside: nothing is left between tasks.
  std::vector<TaskCount> tasks;
  for (std::uint32_t i = 0; i < 10; ++i) tasks.push_back({i < 5 ? 3u : 0u, 3, i < 5 ? 0u : 1u});
  const auto split = variance_split(tasks);
  ASSERT_TRUE(split);
  EXPECT_EQ(split->between_tasks, 0);
  EXPECT_EQ(split->between_replicates, 0);
}

TEST(Variance, OneReplicateOrOneTaskTellsNothing) {
  EXPECT_FALSE(variance_split(std::vector<TaskCount>{{1, 1, 0}, {0, 1, 0}}));
  EXPECT_FALSE(variance_split(std::vector<TaskCount>{{1, 2, 0}, {0, 2, 1}}));
  // One task a level: 2/1 x 1/4 of the first, 0 of the second.
  EXPECT_EQ(variance_between_replicates(std::vector<TaskCount>{{1, 2, 0}, {0, 2, 1}}), 0.25);
  EXPECT_FALSE(variance_between_replicates(std::vector<TaskCount>{{1, 1, 0}, {0, 1, 0}}));
}

TEST(Variance, PairingRemovesWhatTwoCellsShare) {
  std::vector<TaskCount> a, b;
  for (std::uint32_t i = 0; i < 30; ++i) a.push_back({i % 5, 4, 0}), b.push_back({i % 5, 4, 0});
  const auto paired = difference_variance(a, b);
  ASSERT_TRUE(paired);
  EXPECT_EQ(paired->between_tasks, 0);  // cut: the same chances in both cells
  EXPECT_NEAR(paired->between_replicates, 2 * variance_split(a)->between_replicates / 4, 1e-15);
}

TEST(PassAt, IsTheCountOverAllSubsets) {
  // math.comb: 1 - C(7, k)/C(10, k) and C(3, k)/C(10, k)
  const TaskCount task{3, 10, 0};
  EXPECT_NEAR(pass_at(task, 1), 0.3, 1e-15);
  EXPECT_NEAR(pass_at(task, 2), 0.5333333333333333, 1e-15);
  EXPECT_NEAR(pass_at(task, 5), 0.9166666666666666, 1e-15);
  EXPECT_EQ(pass_at(task, 10), 1);
  EXPECT_NEAR(pass_all(task, 2), 0.06666666666666667, 1e-15);
  EXPECT_NEAR(pass_all(task, 3), 0.008333333333333333, 1e-15);
  EXPECT_EQ(pass_all(task, 5), 0);
}

std::vector<TaskCount> spread_tasks(std::uint32_t replicates) {
  std::vector<TaskCount> tasks;
  for (std::uint32_t i = 0; i < 60; ++i) tasks.push_back({(i * i + 3 * i) % (replicates + 1), replicates, i / 20});
  return tasks;
}

TEST(PassAt, OfOneIsTheRateWithItsInterval) {
  const auto tasks = spread_tasks(5);
  const auto at = pass_at_all_tasks(tasks, 1, 0.95);
  const auto rate = rate_interval(tasks, 0.95);
  EXPECT_NEAR(at.any, mean_score(tasks), 1e-15);
  EXPECT_NEAR(at.all, at.any, 1e-15);
  EXPECT_EQ(at.any_interval.method, "wilson-eff");
  EXPECT_NEAR(at.any_interval.low, rate.low, 1e-12);
  EXPECT_NEAR(at.any_interval.high, rate.high, 1e-12);
}

TEST(PassAt, GrowsWithKAsPassAllShrinks) {
  const auto tasks = spread_tasks(5);
  PassAt before = pass_at_all_tasks(tasks, 1, 0.95);
  for (std::uint32_t k = 2; k <= 5; ++k) {
    const auto at = pass_at_all_tasks(tasks, k, 0.95);
    EXPECT_GE(at.any, before.any);
    EXPECT_LE(at.all, before.all);
    EXPECT_TRUE(at.any_interval.low <= at.any && at.any <= at.any_interval.high);
    before = at;
  }
}

TEST(PassAt, UnequalReplicatesChangeNothingWhereTheChancesAreEqual) {
  auto tasks = spread_tasks(6);
  const auto equal = pass_at_all_tasks(tasks, 2, 0.95);
  tasks.push_back({1, 1, 0});  // has no two replicates: left out
  tasks[0] = {0, 12, 0};       // as before, in more replicates
  const auto unequal = pass_at_all_tasks(tasks, 2, 0.95);
  EXPECT_EQ(unequal.tasks, 60u);
  EXPECT_EQ(unequal.any_interval.method, "wilson-eff");
  EXPECT_NEAR(unequal.any_interval.low, equal.any_interval.low, 1e-12);
  EXPECT_NEAR(unequal.any_interval.high, equal.any_interval.high, 1e-12);
}

TEST(Spread, HasTheChiSquareBound) { EXPECT_NEAR((Spread{1, 22}.upper(0.9)), 1.5667849354207928, 1e-9); }

}  // namespace
}  // namespace nkigrid::aggregate
