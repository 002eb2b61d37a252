#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nkigrid::aggregate {

struct Interval {
  std::string method;  ///< wilson, bca, newcombe, clopper-pearson
  double low = 0, high = 0;
};

/// Passes of one task over its replicates.
struct TaskCount {
  std::uint32_t passed = 0, replicates = 1;
  std::uint32_t stratum = 0;  ///< level; tasks are resampled within it
};

/// True when all tasks have as many replicates.
bool has_equal_replicates(std::span<const TaskCount> tasks) noexcept;

/// The mean over tasks of passed/replicates: every task weighs alike, however many replicates it has. @pre tasks is not
/// empty, replicates >= 1
double mean_score(std::span<const TaskCount> tasks) noexcept;

/// Wilson's score interval. @param rate may be a mean over replicates, `n` is the number of tasks
/// @source Wilson 1927, JASA 22:209
Interval wilson(double rate, double n, double level);

/// The interval that inverts the two one-sided binomial tests. @param rate may be a mean over replicates, `n`
/// is the number of tasks: then passed = rate n need not be whole
/// @source Clopper & Pearson 1934, Biometrika 26:404; Korn & Graubard 1998, Survey Methodology 24:193 (means)
Interval clopper_pearson(double rate, double n, double level);

/// Difference a - b of two rates by square-and-add of their Wilson intervals.
/// @source Newcombe 1998, Statistics in Medicine 17:873 (method 10)
Interval newcombe(double rate_a, double n_a, double rate_b, double n_b, double level);

/// The contract's rule for one rate: one replicate a task: Wilson; at most five tasks with any pass, or any
/// failure: Wilson with n = tasks; else the exact BCa interval (half of the ties) of the mean over tasks,
/// tasks resampled within strata. Never of zero width: where the BCa ends meet, Wilson. @pre tasks is not
/// empty, replicates >= 1
Interval rate_interval(std::span<const TaskCount> tasks, double level);

/// Would another run of the same tasks change the rate? rate -+ z sqrt(sigma^2/(K n)), cut to [0, 1], with sigma^2 the
/// mean over tasks of K/(K-1) p (1 - p). None when no task has two replicates. Where at most five tasks have replicates
/// that differ, sigma^2 is known too badly: Wilson with n^2/sum(1/K) episodes (all nK of equal K), which is cautious,
/// since the mean of p (1 - p) over tasks is at most rate (1 - rate).
/// @source Miller 2024, arXiv 2411.00640, section 3
std::optional<Interval> run_to_run_interval(std::span<const TaskCount> tasks, double level);

}  // namespace nkigrid::aggregate
