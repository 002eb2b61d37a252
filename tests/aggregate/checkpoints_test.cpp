#include "aggregate/checkpoints.hpp"

#include <gtest/gtest.h>

namespace nkigrid::aggregate {
namespace {

const std::vector<std::vector<std::uint32_t>> kOneStratum{{0, 1, 2, 3, 4, 5, 6, 7}};

CheckpointScores first_scores() {
  CheckpointScores scores(3);
  for (int c = 0; c < 3; ++c) {
    for (int t = 0; t < 8; ++t)
      scores[static_cast<std::size_t>(c)].push_back((c * 5 + t * 3 + c * t) % 7 / 6.0);
  }
  return scores;
}

CheckpointScores second_scores() {
  CheckpointScores scores(2);
  for (int c = 0; c < 2; ++c) {
    for (int t = 0; t < 8; ++t) scores[static_cast<std::size_t>(c)].push_back((c * 2 + t * 5 + 3) % 6 / 5.0);
  }
  return scores;
}

// numpy: mean squares from the projections of a two-way design matrix, scipy: t quantiles.
TEST(Checkpoints, MeanHasTheCrossedAnalysisOfVariance) {
  const auto result = checkpoint_mean(first_scores(), kOneStratum, 0.95);
  EXPECT_NEAR(result.mean, 0.4930555555555556, 1e-15);
  EXPECT_NEAR(*result.between_checkpoints, 0.05242940580049135, 1e-14);
  ASSERT_TRUE(result.interval);
  EXPECT_EQ(result.interval->method, "checkpoint-t");
  EXPECT_NEAR(result.interval->low, 0.30363939653258554, 1e-9);
  EXPECT_NEAR(result.interval->high, 0.6824717145785256, 1e-9);
}

TEST(Checkpoints, DifferenceCountsBothMethodsAndTheTasks) {
  const auto result = checkpoint_difference(first_scores(), second_scores(), kOneStratum, 0.95);
  EXPECT_NEAR(result.difference, -0.056944444444444506, 1e-14);
  ASSERT_TRUE(result.interval && result.p);
  EXPECT_NEAR(result.interval->low, -0.34798110729352105, 1e-9);
  EXPECT_NEAR(result.interval->high, 0.234092218404632, 1e-9);
  EXPECT_NEAR(*result.p, 0.6446017581555301, 1e-9);
}

TEST(Checkpoints, OneOnEachSideSaysNothingOfOthers) {
  const CheckpointScores one{{0, 1, 1, 0, 1, 0, 0, 1}};
  EXPECT_FALSE(checkpoint_mean(one, kOneStratum, 0.95).interval);
  const auto result = checkpoint_difference(one, one, kOneStratum, 0.95);
  EXPECT_FALSE(result.interval);
  EXPECT_FALSE(result.p);
}

TEST(Checkpoints, OneAgainstSeveralIsTakenToScatterAlike) {
  const CheckpointScores one{{0, 1, 1, 0, 1, 0, 0, 1}};
  const auto result = checkpoint_difference(first_scores(), one, kOneStratum, 0.95);
  ASSERT_TRUE(result.interval);
  EXPECT_LT(result.interval->low, result.difference);
  EXPECT_GT(result.interval->high, result.difference);
}

}  // namespace
}  // namespace nkigrid::aggregate
