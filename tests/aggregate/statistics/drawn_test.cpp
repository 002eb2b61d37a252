#include "aggregate/statistics/drawn.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace nkigrid::aggregate {
namespace {

double ratio(std::span<const double> sums) { return sums[0] / sums[1]; }

TaskFigures made_figures() {
  TaskFigures figures{{{}, {}}, {{}}};
  for (std::uint32_t i = 0; i < 60; ++i) {
    figures.columns[0].push_back(1 + (i * 7 % 11) * 0.25);
    figures.columns[1].push_back((i * i + 3 * i) % 4);
    figures.strata[0].push_back(i);
  }
  return figures;
}

TEST(Drawn, RatioIsNearScipysBca) {
  // scipy.stats.bootstrap((cost, passed), sum ratio, paired, BCa, 99999 draws): [1.773649, 3.023810]
  const auto interval = drawn_interval(made_figures(), ratio, 0.95, 1, {.draws = 99999});
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->method, "bca-drawn");
  EXPECT_NEAR(interval->low, 1.773649, 0.01);
  EXPECT_NEAR(interval->high, 3.023810, 0.02);
}

TEST(Drawn, DoesNotDependOnTheNumberOfThreads) {
  const auto one = drawn_interval(made_figures(), ratio, 0.95, 42, {.threads = 1});
  for (const unsigned threads : {2u, 3u, 7u}) {
    const auto many = drawn_interval(made_figures(), ratio, 0.95, 42, {.threads = threads});
    EXPECT_EQ(one->low, many->low);
    EXPECT_EQ(one->high, many->high);
  }
  EXPECT_NE(one->low, drawn_interval(made_figures(), ratio, 0.95, 43)->low);
}

TEST(Drawn, MeanIsNearTheExactInterval) {
  TaskFigures figures{{{}}, {{}, {}}};
  for (std::uint32_t i = 0; i < 80; ++i) {
    const std::int64_t value = (i * i + i) % 7;
    figures.columns[0].push_back(static_cast<double>(value));
    figures.strata[i / 40].push_back(i);
  }
  const auto drawn = drawn_interval(figures, [](auto sums) { return sums[0] / 80; }, 0.95, 5, {.draws = 49999});
  // The exact BCa ends: numpy, a convolution power of each stratum's empirical distribution.
  EXPECT_NEAR(drawn->low, 2.45, 0.02);
  EXPECT_NEAR(drawn->high, 3.525, 0.02);
}

TEST(Drawn, SaysNothingWhereTheRatioIsNotFiniteOrDoesNotVary) {
  auto figures = made_figures();
  for (auto& passed : figures.columns[1]) passed = 0;
  EXPECT_FALSE(drawn_interval(figures, ratio, 0.95, 1));
  figures.columns[1] = figures.columns[0];
  EXPECT_FALSE(drawn_interval(figures, ratio, 0.95, 1));
  figures.columns[1].assign(60, 0.0);
  figures.columns[1][3] = 1;  // most draws divide by zero
  EXPECT_FALSE(drawn_interval(figures, ratio, 0.95, 1));
}

}  // namespace
}  // namespace nkigrid::aggregate
