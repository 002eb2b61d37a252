#include "aggregate/statistics/combination.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "aggregate/statistics/intervals.hpp"

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

// numpy and scipy: ../independent_values.py.
TEST(Combination, InteractionMeetsAnIndependentComputation) {
  const auto cells = square_of_cells();
  const auto found = compare({cells, {1, -1, -1, 1}}, 0.95, PValue::mid);
  EXPECT_NEAR(found.value, 0.11666666666666667, 1e-15);
  EXPECT_EQ(found.interval.method, "bonett-price");
  EXPECT_NEAR(found.interval.low, -0.10514665656771484, 1e-9);
  EXPECT_NEAR(found.interval.high, 0.330953108180618, 1e-9);
  EXPECT_NEAR(found.p, 0.30342576510156505, 1e-9);
}

TEST(Combination, LevelsOfThirdsMeetAnIndependentComputation) {
  LevelValues levels(2);
  Sample sample{3, {{}, {}}};
  for (int j = 0; j < 11; ++j) sample.strata[0].push_back((j * 7) % 5 - 2);
  for (int j = 0; j < 9; ++j) sample.strata[1].push_back((j * j) % 4 - 1);
  for (std::size_t s = 0; s < 2; ++s) {
    for (const auto value : sample.strata[s]) levels[s].push_back(static_cast<double>(value) / 3);
  }
  const auto interval = bonett_price(levels, 0.95);
  EXPECT_NEAR(interval.low, -0.28040401483383665, 1e-9);
  EXPECT_NEAR(interval.high, 0.06828280271262445, 1e-9);
  EXPECT_NEAR(sign_flip(sample, PValue::mid), 0.204345703125, 1e-12);
}

TEST(Combination, DifferenceOfTwoIsTheRuleForDifferences) {
  const auto cells = square_of_cells();
  const auto two = std::span(cells).first(2);
  const auto by_rule = compare(cells[0], cells[1], 0.95, PValue::mid),
             combined = compare({two, {1, -1}}, 0.95, PValue::mid);
  EXPECT_EQ(by_rule.interval.low, combined.interval.low);
  EXPECT_EQ(by_rule.interval.high, combined.interval.high);
}

TEST(Combination, RatesThatPairNothingAreSquareAndAdd) {
  const WeighedRate rates[] = {{0.05, 20, 1}, {0, 20, -1}, {0, 20, -1}, {0, 20, 1}};
  const auto interval = square_and_add(rates, 0.95);
  EXPECT_EQ(interval.method, "newcombe");
  const auto one = wilson(0.05, 20, 0.95), none = wilson(0, 20, 0.95);
  EXPECT_NEAR(interval.low, 0.05 - std::sqrt(std::pow(0.05 - one.low, 2) + 2 * std::pow(none.high, 2)), 1e-12);
  EXPECT_NEAR(interval.high, 0.05 + std::sqrt(std::pow(one.high - 0.05, 2) + std::pow(none.high, 2)), 1e-12);
}

TEST(Combination, MeanOfTwoEffectsHasTheirMean) {
  const auto cells = square_of_cells();
  const Combination mean{cells, {1, -1, 1, -1}, 2};
  EXPECT_NEAR(value_of(mean),
              (mean_score(cells[0]) - mean_score(cells[1]) + mean_score(cells[2]) - mean_score(cells[3])) / 2, 1e-15);
  const auto interval = compare(mean, 0.95, PValue::mid).interval;
  EXPECT_LT(interval.low, value_of(mean));
  EXPECT_GT(interval.high, value_of(mean));
}

}  // namespace
}  // namespace nkigrid::aggregate
