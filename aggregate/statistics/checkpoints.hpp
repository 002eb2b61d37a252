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

/// Crossed random effects, checkpoints x tasks: Var(mean) = s^2/C - MS/(C n) + s_t^2/n, s^2 the checkpoints' means', MS
/// the interaction's, s_t^2 the task means' within strata. Each with the t of its own degrees of freedom: the squared
/// half width is max(0, (t^2_(C-1) s^2 - t^2 MS/n)/C) + t^2_(n-L) s_t^2/n. Satterthwaite's single t would cover 0.90
/// with two checkpoints.
/// @param strata of the tasks, as strata_of() gives them
/// @source Searle, Casella & McCulloch, Variance Components, 4.3; Howe 1974, JASA 69:789 (sums of two variances);
/// Burdick & Graybill 1992, Confidence Intervals on Variance Components, 3.3 (differences)
CheckpointMean checkpoint_mean(const CheckpointScores& scores, std::span<const std::vector<std::uint32_t>> strata,
                               double confidence);

/// The difference of two methods over the same tasks.
struct CheckpointDifference {
  double difference = 0;
  std::optional<Interval> interval;
  std::optional<double> p;  ///< two-sided t test of no difference
};

/// As checkpoint_mean(), of the task differences, with 1/C_a + 1/C_b for 1/C: checkpoints of both methods are taken to
/// scatter alike, so s^2 and MS are pooled over those that have several, and one checkpoint against C is the prediction
/// of one more. p is what inverts it. None when both have one.
CheckpointDifference checkpoint_difference(const CheckpointScores& a, const CheckpointScores& b,
                                           std::span<const std::vector<std::uint32_t>> strata, double confidence);

}  // namespace nkigrid::aggregate
