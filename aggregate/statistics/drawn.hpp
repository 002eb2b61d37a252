#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "aggregate/statistics/interval.hpp"
#include "aggregate/statistics/task_counts.hpp"

namespace nkigrid::aggregate {

/// Per-task figures whose sums a statistic is made of, e.g. cost and passes.
struct TaskFigures {
  std::vector<std::vector<double>> columns;        ///< [column][task]
  std::vector<std::vector<std::uint32_t>> strata;  ///< tasks by stratum; none empty
};

/// The tasks of each stratum, by their place in `tasks`.
std::vector<std::vector<std::uint32_t>> strata_of(std::span<const TaskCount> tasks);

/// A statistic of the columns' sums; may be infinite or NaN (0 divided by 0 counts as the smallest of all).
using SumStatistic = std::function<double(std::span<const double> sums)>;

struct Drawing {
  std::uint32_t draws = 9999;
  unsigned threads = 0;  ///< 0: as many as the machine has, four at most; the result does not depend on it
};

/// BCa interval from drawn bootstrap samples, tasks resampled within strata: for statistics without a lattice
/// (ratios). Draw d takes its numbers from a counter-based stream of its own (Philox, keyed by `key` and d),
/// so the interval depends on the key and the figures alone. Method "bca-drawn". None when the statistic is
/// not finite, does not vary, or an end is infinite.
/// The acceleration is the jackknife's over tasks within strata, a = (1/6) sum_s n_s^-3 sum_i l_si^3 / (sum_s n_s^-2
/// sum_i l_si^2)^(3/2), l_si = (n_s - 1)(theta - theta_(si)).
/// @source Efron 1987, JASA 82:171; Davison & Hinkley 1997, sections 5.3 (a for several samples) and 2.7.3
std::optional<Interval> drawn_interval(const TaskFigures& figures, const SumStatistic& statistic, double confidence,
                                       std::uint64_t key, const Drawing& drawing = {});

/// The same of several statistics, each of the same draws: what a curve is made of. Parallel to `statistics`
std::vector<std::optional<Interval>> drawn_intervals(const TaskFigures& figures,
                                                     std::span<const SumStatistic> statistics, double confidence,
                                                     std::uint64_t key, const Drawing& drawing = {});

}  // namespace nkigrid::aggregate
