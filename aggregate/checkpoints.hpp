#pragma once

#include <optional>
#include <span>
#include <vector>

#include "aggregate/intervals.hpp"

namespace nkigrid::aggregate {

/// Several checkpoints of one method on the same tasks: scores[checkpoint][task].
using CheckpointScores = std::vector<std::vector<double>>;

/// The mean of a method over its checkpoints, for other checkpoints and other tasks: both were drawn.
struct CheckpointMean {
  double mean = 0;
  std::optional<double> between_checkpoints;  ///< standard deviation of the checkpoints' means; none of one
  std::optional<Interval>
      interval;  ///< method checkpoint-t; none of one checkpoint, or of one task a stratum
};

/// Crossed random effects, checkpoints x tasks: Var(mean) = (MS_C + MS_T - MS_CT)/(C n), at least the larger
/// of the first two terms alone; Student's t with Satterthwaite's degrees of freedom. Task variance is taken
/// within strata.
/// @param strata of the tasks, as strata_of() gives them
/// @source Searle, Casella & McCulloch, Variance Components, 4.3; Satterthwaite 1946, Biometrics Bull. 2:110
CheckpointMean checkpoint_mean(const CheckpointScores& scores,
                               std::span<const std::vector<std::uint32_t>> strata, double level);

/// The difference of two methods over the same tasks.
struct CheckpointDifference {
  double difference = 0;
  std::optional<Interval> interval;
  std::optional<double> p;  ///< two-sided t test of no difference
};

/// Var = s_a^2/C_a + s_b^2/C_b + s_d^2/n - MS_a/(C_a n) - MS_b/(C_b n): checkpoint means, task differences,
/// and what both count. A side of one checkpoint is taken to scatter as the other does. None when both have
/// one.
CheckpointDifference checkpoint_difference(const CheckpointScores& a, const CheckpointScores& b,
                                           std::span<const std::vector<std::uint32_t>> strata, double level);

}  // namespace nkigrid::aggregate
