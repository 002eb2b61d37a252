#include "aggregate/statistics/combination.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "aggregate/statistics/paired.hpp"

namespace nkigrid::aggregate {
namespace {

// p11, p10, p01, p00 of 60 tasks.
std::vector<std::vector<TaskCount>> square_of_cells() {
  std::vector<std::vector<TaskCount>> cells(4);
  for (std::uint32_t i = 0; i < 60; ++i) {
    cells[0].push_back({(i * i + 3 * i) % 4 > 0, 1, 0});
    cells[1].push_back({i % 5 == 0, 1, 0});
    cells[2].push_back({i % 3 == 0, 1, 0});
    cells[3].push_back({i % 7 == 0, 1, 0});
  }
  return cells;
}

TEST(Combination, InteractionIsNearScipysBootstrapAndPermutationTest) {
  // scipy.stats.bootstrap(BCa, 199999 draws): [-0.1, 0.333333], one lattice step is 1/60; permutation_test: p
  // = 0.37
  const auto cells = square_of_cells();
  const Combination interaction{cells, {1, -1, -1, 1}};
  EXPECT_NEAR(value_of(interaction), 0.11666666666666667, 1e-15);
  const auto interval = combination_interval(interaction, 0.95);
  EXPECT_EQ(interval.method, "bca");
  EXPECT_NEAR(interval.low, -0.1, 1.0 / 60 + 1e-9);
  EXPECT_NEAR(interval.high, 0.333333, 1.0 / 60 + 1e-6);
  EXPECT_NEAR(sign_flip(sample_of(interaction)), 0.37, 0.01);
}

TEST(Combination, DifferenceOfTwoIsTheRuleForDifferences) {
  const auto cells = square_of_cells();
  const auto two = std::span(cells).first(2);
  const auto by_rule = difference_interval(cells[0], cells[1], 0.95),
             combined = combination_interval({two, {1, -1}}, 0.95);
  EXPECT_EQ(by_rule.low, combined.low);
  EXPECT_EQ(by_rule.high, combined.high);
}

TEST(Combination, FewTasksThatDifferAreSquareAndAdd) {
  std::vector<std::vector<TaskCount>> cells(4, std::vector<TaskCount>(20, TaskCount{0, 1, 0}));
  cells[0][0].passed = 1;
  const auto interval = combination_interval({cells, {1, -1, -1, 1}}, 0.95);
  EXPECT_EQ(interval.method, "newcombe");
  // Four Wilson intervals: 1/20 once, 0/20 three times.
  const auto one = wilson(0.05, 20, 0.95), none = wilson(0, 20, 0.95);
  EXPECT_NEAR(interval.low, 0.05 - std::sqrt(std::pow(0.05 - one.low, 2) + 2 * std::pow(none.high, 2)), 1e-12);
  EXPECT_NEAR(interval.high, 0.05 + std::sqrt(std::pow(one.high - 0.05, 2) + std::pow(none.high, 2)), 1e-12);
}

TEST(Combination, MeanOfTwoEffectsHasTheirMean) {
  const auto cells = square_of_cells();
  const Combination mean{cells, {1, -1, 1, -1}, 2};
  EXPECT_NEAR(value_of(mean),
              (mean_score(cells[0]) - mean_score(cells[1]) + mean_score(cells[2]) - mean_score(cells[3])) / 2, 1e-15);
  const auto interval = combination_interval(mean, 0.95);
  EXPECT_LT(interval.low, value_of(mean));
  EXPECT_GT(interval.high, value_of(mean));
}

}  // namespace
}  // namespace nkigrid::aggregate
