#include "aggregate/statistics/relative.hpp"

#include <gtest/gtest.h>

namespace nkigrid::aggregate {
namespace {

// A value and a baseline of 60 tasks, three replicates each; `first` of them in one level, the others in another.
std::vector<std::vector<TaskCount>> two_cells(std::uint32_t first) {
  std::vector<std::vector<TaskCount>> cells(2);
  for (std::uint32_t i = 0; i < 60; ++i) {
    const std::uint32_t level = i < first ? 0 : 1;
    cells[0].push_back({(i * i + 3 * i) % 4, 3, level});
    cells[1].push_back({(5 * i + i / 7) % 3, 3, level});
  }
  return cells;
}

RelativeChange change_of(const std::vector<std::vector<TaskCount>>& cells, const Drawing& drawing = {}) {
  return relative_change({cells, {1, -1}}, 0.95, 11, drawing);
}

TEST(RelativeChange, IsNearScipysPairedBootstrap) {
  // scipy.stats.bootstrap((value, baseline), sum ratio - 1, paired, BCa, 99999 draws): [-0.192982, 0.684211]; with 9999
  // draws and three seeds its ends lie in [-0.194, -0.178] and [0.659, 0.682].
  const auto result = change_of(two_cells(60), {.draws = 99999});
  EXPECT_NEAR(*result.change, 20.0 / 17 - 1, 1e-15);
  ASSERT_TRUE(result.interval);
  EXPECT_EQ(result.interval->method, "bca-drawn");
  EXPECT_EQ(result.reason, NoInterval::has_one);
  EXPECT_NEAR(result.interval->low, -0.192982, 0.01);
  EXPECT_NEAR(result.interval->high, 0.684211, 0.02);
}

TEST(RelativeChange, WithinLevelsIsNearNumpys) {
  // 400,000 draws of numpy's PCG64 within the levels of 25 and 35 tasks, BCa by hand: [-0.192308, 0.684211]
  const auto result = change_of(two_cells(25), {.draws = 99999});
  ASSERT_TRUE(result.interval);
  EXPECT_NEAR(result.interval->low, -0.192308, 0.01);
  EXPECT_NEAR(result.interval->high, 0.684211, 0.02);
}

TEST(RelativeChange, IsTheSameBitsOnAnyNumberOfThreads) {
  const auto one = change_of(two_cells(25), {.threads = 1});
  EXPECT_DOUBLE_EQ(one.interval->low, -1.0 / 5);  // as drawn on the day this was written
  EXPECT_DOUBLE_EQ(one.interval->high, 2.0 / 3);
  for (const unsigned threads : {2u, 3u, 8u}) {
    const auto many = change_of(two_cells(25), {.threads = threads});
    EXPECT_EQ(one.interval->low, many.interval->low);
    EXPECT_EQ(one.interval->high, many.interval->high);
  }
}

TEST(RelativeChange, MeanOverTwoEqualContextsIsTheChangeOfOne) {
  auto cells = two_cells(25);
  const auto one = change_of(cells);
  cells.insert(cells.end(), {cells[0], cells[1]});
  const auto mean = relative_change({cells, {1, -1, 1, -1}, 2}, 0.95, 11);
  EXPECT_NEAR(*mean.change, *one.change, 1e-15);
  EXPECT_NEAR(mean.interval->low, one.interval->low, 1e-12);
  EXPECT_NEAR(mean.interval->high, one.interval->high, 1e-12);
}

std::vector<std::vector<TaskCount>> first_tasks(std::uint32_t value, std::uint32_t baseline) {
  std::vector<std::vector<TaskCount>> cells(2);
  for (std::uint32_t i = 0; i < 40; ++i) {
    cells[0].push_back({i < value ? 1u : 0u, 1, 0});
    cells[1].push_back({i < baseline ? 1u : 0u, 1, 0});
  }
  return cells;
}

TEST(RelativeChange, SaysWhyThereIsNoInterval) {
  const auto reason = [](std::uint32_t value, std::uint32_t baseline) {
    return change_of(first_tasks(value, baseline)).reason;
  };
  EXPECT_EQ(reason(20, 0), NoInterval::no_baseline_passes);
  EXPECT_EQ(reason(20, 5), NoInterval::few_baseline_passes);
  EXPECT_EQ(reason(5, 20), NoInterval::few_passes);
  EXPECT_EQ(reason(20, 15), NoInterval::few_differences);
  EXPECT_EQ(reason(20, 6), NoInterval::has_one);
  EXPECT_FALSE(change_of(first_tasks(20, 0)).change);
  EXPECT_NEAR(*change_of(first_tasks(20, 5)).change, 3, 1e-15);
}

TEST(RelativeChange, OfCountsIsTheRootOfTheSquareAndAddInterval) {
  // scipy.optimize.brentq on (p1 - R p2) -+ sqrt(own^2 + R^2 other^2) = 0, Wilson ends
  const struct {
    int passed, baseline, n;
    double low, high;
  } rows[] = {{26, 31, 150, -0.473158379, 0.334472143},
              {10, 15, 60, -0.669089932, 0.337643934},
              {9, 5, 60, -0.335353417, 3.858934814},
              {116, 9, 150, 5.955218750, 23.336044834},
              {0, 6, 60, -1, -0.288542641},
              {60, 5, 60, 4.515758949, 26.685142827}};
  for (const auto& row : rows) {
    const auto result = relative_change(row.passed / static_cast<double>(row.n), row.n,
                                        row.baseline / static_cast<double>(row.n), row.n, 0.95);
    ASSERT_TRUE(result.interval) << row.passed;
    EXPECT_EQ(result.interval->method, "mover-r");
    EXPECT_NEAR(result.interval->low, row.low, 1e-8) << row.passed;
    EXPECT_NEAR(result.interval->high, row.high, 1e-7) << row.passed;
  }
  EXPECT_EQ(relative_change(0.5, 60, 0, 60, 0.95).reason, NoInterval::no_baseline_passes);
}

}  // namespace
}  // namespace nkigrid::aggregate
