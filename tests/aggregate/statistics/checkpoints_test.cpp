#include "aggregate/statistics/checkpoints.hpp"

#include <gtest/gtest.h>

#include <random>

namespace nkigrid::aggregate {
namespace {

const std::vector<std::vector<std::uint32_t>> kOneStratum{{0, 1, 2, 3, 4, 5, 6, 7}};

CheckpointScores first_scores() {
  CheckpointScores scores(3);
  for (int c = 0; c < 3; ++c) {
    for (int t = 0; t < 8; ++t) scores[static_cast<std::size_t>(c)].push_back((c * 5 + t * 3 + c * t) % 7 / 6.0);
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

// numpy and scipy: ../independent_values.py.
TEST(Checkpoints, MeanHasTheCrossedAnalysisOfVariance) {
  const auto result = checkpoint_mean(first_scores(), kOneStratum, 0.95);
  EXPECT_NEAR(result.mean, 0.4930555555555556, 1e-15);
  EXPECT_NEAR(*result.between_checkpoints, 0.05242940580049135, 1e-14);
  ASSERT_TRUE(result.interval);
  EXPECT_EQ(result.interval->method, "checkpoint-t");
  EXPECT_NEAR(result.interval->low, 0.30654882786466514, 1e-9);
  EXPECT_NEAR(result.interval->high, 0.6795622832464459, 1e-9);
}

TEST(Checkpoints, DifferenceCountsBothMethodsAndTheTasks) {
  const auto result = checkpoint_difference(first_scores(), second_scores(), kOneStratum, 0.95);
  EXPECT_NEAR(result.difference, -0.056944444444444506, 1e-14);
  ASSERT_TRUE(result.interval && result.p);
  EXPECT_NEAR(result.interval->low, -0.33332786301503226, 1e-9);
  EXPECT_NEAR(result.interval->high, 0.21943897412614322, 1e-9);
  EXPECT_NEAR(*result.p, 0.6410066413379049, 1e-9);
}

TEST(Checkpoints, OneOnEachSideSaysNothingOfOthers) {
  const CheckpointScores one{{0, 1, 1, 0, 1, 0, 0, 1}};
  EXPECT_FALSE(checkpoint_mean(one, kOneStratum, 0.95).interval);
  const auto result = checkpoint_difference(one, one, kOneStratum, 0.95);
  EXPECT_FALSE(result.interval);
  EXPECT_FALSE(result.p);
}

// numpy and scipy: ../independent_values.py.
TEST(Checkpoints, OneAgainstSeveralIsThePredictionOfAnother) {
  const CheckpointScores one{{0, 1, 1, 0, 1, 0, 0, 1}};
  const auto result = checkpoint_difference(first_scores(), one, kOneStratum, 0.95);
  ASSERT_TRUE(result.interval && result.p);
  EXPECT_NEAR(result.difference, -0.006944444444444475, 1e-14);
  EXPECT_NEAR(result.interval->low, -0.44926765946138975, 1e-9);
  EXPECT_NEAR(result.interval->high, 0.4353787705725008, 1e-9);
  EXPECT_NEAR(*result.p, 0.9714223177499421, 1e-9);
  const auto mirrored = checkpoint_difference(one, first_scores(), kOneStratum, 0.95);
  EXPECT_NEAR(mirrored.interval->high, 0.44926765946138975, 1e-9);
  EXPECT_NEAR(*mirrored.p, *result.p, 1e-12);
}

/// Normal scores: tasks 0.3, checkpoints and their interaction with tasks as said.
struct Scatter {
  std::size_t tasks, checkpoints;
  double checkpoint, interaction;
};

double coverage_against_one(const Scatter& scatter, int rounds, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<std::vector<std::uint32_t>> strata(1);
  for (std::uint32_t t = 0; t < scatter.tasks; ++t) strata[0].push_back(t);
  int covered = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> easy;
    for (std::size_t t = 0; t < scatter.tasks; ++t) easy.push_back(0.3 * normal(random));
    const auto draw = [&] {
      const double own = scatter.checkpoint * normal(random);
      std::vector<double> scores;
      for (const auto task : easy) scores.push_back(task + own + scatter.interaction * normal(random));
      return scores;
    };
    CheckpointScores several, one{draw()};
    for (std::size_t c = 0; c < scatter.checkpoints; ++c) several.push_back(draw());
    const auto interval = checkpoint_difference(several, one, strata, 0.95).interval;
    covered += interval->low <= 0 && 0 <= interval->high;
  }
  return static_cast<double>(covered) / rounds;
}

TEST(Checkpoints, OneAgainstSeveralCovers) {
  std::mt19937_64 random(20260705);
  // Of 6000 rounds of numpy: 0.956, 0.954, 0.954; here the standard error is 0.007.
  for (const auto& scatter : {Scatter{50, 2, 0.1, 0.3}, {50, 3, 0.1, 0.3}, {150, 3, 0.05, 0.2}}) {
    const double coverage = coverage_against_one(scatter, 1000, random);
    EXPECT_GE(coverage, 0.935) << scatter.tasks << " tasks, " << scatter.checkpoints << " checkpoints";
    EXPECT_LE(coverage, 0.975) << scatter.tasks << " tasks, " << scatter.checkpoints << " checkpoints";
  }
}

}  // namespace
}  // namespace nkigrid::aggregate
