#pragma once

#include <optional>
#include <span>

#include "aggregate/statistics/pair_power.hpp"
#include "aggregate/statistics/task_counts.hpp"

namespace nkigrid::aggregate {

/// What is assumed before anything was measured: ours, near the paper's open models on 150 tasks.
struct VariancePrior {
  double rate = 0.2;                ///< pass rate of either cell
  double share_of_tasks = 1.0 / 3;  ///< of an episode's variance (intraclass correlation)
  double correlation = 0.5;         ///< of the two cells' true pass probabilities over tasks
};

/// Variances of one replicate's paired difference, and the rates they belong to.
struct PairVariances {
  double between_tasks = 0;         ///< omega^2 of the true paired difference
  double noise_a = 0, noise_b = 0;  ///< sigma^2 of one replicate of either cell
  double rate_a = 0, rate_b = 0;
  double between_upper = 0;  ///< upper bound of between_tasks
  bool split = true;         ///< false: only the total was measured, and split as the prior says
};

/// The confidence of PairVariances::between_upper, one-sided.
inline constexpr double kPilotConfidence = 0.9;

/// What the prior says of any two cells.
PairVariances expected_variances(const VariancePrior& prior) noexcept;

/// What two cells on the same tasks measured; none where they never differ. @pre equal sizes
std::optional<PairVariances> measured_variances(std::span<const TaskCount> a, std::span<const TaskCount> b,
                                                const VariancePrior& prior);

/// The mean of several; none of none.
std::optional<PairVariances> mean_of(std::span<const PairVariances> several);

/// The Beta chances that have these variances at these rates.
PairChances chances_of(const PairVariances& variances) noexcept;

}  // namespace nkigrid::aggregate
