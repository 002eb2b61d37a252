#pragma once

#include <optional>
#include <span>

#include "aggregate/statistics/interval.hpp"
#include "aggregate/statistics/task_counts.hpp"

namespace nkigrid::aggregate {

/// Where the scatter of a rate comes from.
struct VarianceSplit {
  double between_tasks = 0;       ///< omega^2: of the tasks' true pass probabilities, within level
  double between_replicates = 0;  ///< sigma^2: mean of p(1 - p) over tasks

  /// omega^2/(omega^2 + sigma^2): 1 when replicates only repeat, 0 when tasks are all alike; none where nothing varies.
  std::optional<double> share_of_tasks() const noexcept;
};

/// sigma^2 = mean over tasks of K/(K-1) p (1 - p); omega^2 = variance of the task means within strata -
/// sigma^2 mean(1/K), cut at 0. None without a task of two replicates or without two tasks in some stratum.
/// Var(mean over n tasks) = (omega^2 + sigma^2/K)/n. @source Miller 2024, arXiv 2411.00640, section 3
std::optional<VarianceSplit> variance_split(std::span<const TaskCount> tasks);

/// sigma^2 alone, which needs no two tasks in a stratum; none without a task of two replicates.
std::optional<double> variance_between_replicates(std::span<const TaskCount> tasks);

/// A pooled variance and its degrees of freedom.
struct Spread {
  double variance = 0, freedom = 0;

  /// The one-sided upper confidence bound, variance x freedom over the chi-square quantile at 1 - confidence. @pre
  /// freedom > 0
  /// @source Snedecor & Cochran, Statistical Methods, 5.11; for planning from a pilot: Browne 1995, Stat. Med. 14:1933
  double upper(double confidence) const;
};

/// Variance of the paired differences a - b of the tasks' scores, within strata: that of true differences and of
/// replicates together. None without two tasks in some stratum. @pre equal sizes
std::optional<Spread> difference_spread(std::span<const TaskCount> a, std::span<const TaskCount> b);

/// The same for paired differences a - b: between_tasks is that of the true differences, which is what
/// pairing leaves; between_replicates is sigma_a^2/K_a + sigma_b^2/K_b. None where either cell has no
/// repeated task.
/// @pre equal sizes
std::optional<VarianceSplit> difference_variance(std::span<const TaskCount> a, std::span<const TaskCount> b);

/// Chance that at least one of k replicates drawn without return passes, 1 - C(K-c, k)/C(K, k). @pre 1 <= k
/// <= K
/// @source Chen et al. 2021, arXiv 2107.03374
double pass_at(const TaskCount& task, std::uint32_t k) noexcept;

/// Chance that all of k pass, C(c, k)/C(K, k). @pre 1 <= k <= K @source Yao et al. 2024, arXiv 2406.12045
double pass_all(const TaskCount& task, std::uint32_t k) noexcept;

/// A mean of such chances over the tasks with at least k replicates.
struct PassAt {
  std::uint32_t k = 1, tasks = 0;
  double any = 0, all = 0;
  Interval any_interval, all_interval;
};

/// pass@k and pass^k with mean_interval(); of k = 1 they are the rate and have rate_interval(). @pre some task has k
/// replicates
PassAt pass_at_all_tasks(std::span<const TaskCount> tasks, std::uint32_t k, double confidence);

}  // namespace nkigrid::aggregate
