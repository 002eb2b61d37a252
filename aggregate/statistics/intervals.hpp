#pragma once

#include <optional>
#include <span>

#include "aggregate/statistics/interval.hpp"
#include "aggregate/statistics/task_counts.hpp"

namespace nkigrid::aggregate {

/// Wilson's score interval. @param rate may be a mean over replicates, `n` is the number of tasks
/// @source Wilson 1927, JASA 22:209
Interval wilson(double rate, double n, double confidence);

/// The interval that inverts the two one-sided binomial tests. @param rate may be a mean over replicates, `n`
/// is the number of tasks: then passed = rate n need not be whole
/// @source Clopper & Pearson 1934, Biometrika 26:404; Korn & Graubard 1998, Survey Methodology 24:193 (means)
Interval clopper_pearson(double rate, double n, double confidence);

/// Difference a - b of two rates by square-and-add of their Wilson intervals.
/// @source Newcombe 1998, Statistics in Medicine 17:873 (method 10)
Interval newcombe(double rate_a, double n_a, double rate_b, double n_b, double confidence);

/// The contract's rule for one rate: one replicate a task: Wilson; at most five tasks with any pass, or any
/// failure: Wilson with n = tasks; else the exact BCa interval (half of the ties) of the mean over tasks,
/// tasks resampled within strata. Never of zero width: where the BCa ends meet, Wilson. @pre tasks is not
/// empty, replicates >= 1
Interval rate_interval(std::span<const TaskCount> tasks, double confidence);

/// Would another run of the same tasks change the rate? rate -+ z sqrt(sigma^2/(K n)), cut to [0, 1], with sigma^2 the
/// mean over tasks of K/(K-1) p (1 - p). None when no task has two replicates. Where at most five tasks have replicates
/// that differ, sigma^2 is known too badly: Wilson with n^2/sum(1/K) episodes (all nK of equal K), which is cautious,
/// since the mean of p (1 - p) over tasks is at most rate (1 - rate).
/// @source Miller 2024, arXiv 2411.00640, section 3
std::optional<Interval> run_to_run_interval(std::span<const TaskCount> tasks, double confidence);

}  // namespace nkigrid::aggregate
