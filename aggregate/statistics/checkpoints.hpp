#pragma once

#include <optional>
#include <span>
#include <vector>

#include "aggregate/statistics/interval.hpp"

namespace nkigrid::aggregate {

/// Several checkpoints of one method on the same tasks: scores[checkpoint][task].
using CheckpointScores = std::vector<std::vector<double>>;

/// The mean of a method over its checkpoints, for other checkpoints and other tasks: both were drawn.
struct CheckpointMean {
  double mean = 0;
  std::optional<double> between_checkpoints;  ///< standard deviation of the checkpoints' means; none of one
  std::optional<Interval> interval;           ///< method checkpoint-t; none of one checkpoint, or of one task a stratum
};

/// Crossed random effects, checkpoints x tasks: Var(mean) = (MS_C + MS_T - MS_CT)/(C n), at least the larger
/// of the first two terms alone; Student's t with Satterthwaite's degrees of freedom. Task variance is taken
/// within strata.
/// @param strata of the tasks, as strata_of() gives them
/// @source Searle, Casella & McCulloch, Variance Components, 4.3; Satterthwaite 1946, Biometrics Bull. 2:110
CheckpointMean checkpoint_mean(const CheckpointScores& scores, std::span<const std::vector<std::uint32_t>> strata,
                               double confidence);

/// The difference of two methods over the same tasks.
struct CheckpointDifference {
  double difference = 0;
  std::optional<Interval> interval;
  std::optional<double> p;  ///< two-sided t test of no difference
};

/// Var = s_a^2/C_a + s_b^2/C_b + s_d^2/n - MS_a/(C_a n) - MS_b/(C_b n): checkpoint means, task differences, and what
/// both count. One checkpoint against C: their scatter s^2 (C - 1 degrees of freedom) holds for both sides, once, as
/// for the prediction of one more; the squared half width is max(0, (1 + 1/C) (t^2_(C-1) s^2 - t^2 MS/n)) + t^2_(n-L)
/// s_d^2/n, and p is what inverts it. Satterthwaite's single t would cover 0.90 with two checkpoints. None when both
/// have one.
/// @source Howe 1974, JASA 69:789 (sums of two variances); Burdick & Graybill 1992, Confidence Intervals on Variance
/// Components, 3.3 (differences)
CheckpointDifference checkpoint_difference(const CheckpointScores& a, const CheckpointScores& b,
                                           std::span<const std::vector<std::uint32_t>> strata, double confidence);

}  // namespace nkigrid::aggregate
