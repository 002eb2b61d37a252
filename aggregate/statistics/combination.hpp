#pragma once

#include <span>
#include <vector>

#include "aggregate/statistics/bootstrap.hpp"
#include "aggregate/statistics/interval.hpp"
#include "aggregate/statistics/task_counts.hpp"

namespace nkigrid::aggregate {

/// A linear combination of the rates of several cells over the same tasks: a difference is +1 -1, a 2x2
/// interaction +1 -1 -1 +1, the mean effect over c contexts +1 -1 ... over `divisor` c.
struct Combination {
  std::span<const std::vector<TaskCount>> cells;  ///< [cell][task], equal sizes
  std::vector<int> coefficients;                  ///< one a cell
  int divisor = 1;
};

double value_of(const Combination& combination) noexcept;

/// The combination task by task. @throws as sample_of()
Sample sample_of(const Combination& combination);

/// The rule for differences, for any combination: the exact BCa interval of its mean over tasks; with fewer
/// than six tasks where it is not zero, or where the ends meet, square-and-add over the Wilson intervals of
/// all cells.
/// @source Newcombe 1998, Stat. Med. 17:873; Zou & Donner 2008, Stat. Med. 27:1693 (the same for sums of
/// several)
Interval combination_interval(const Combination& combination, double confidence);

/// One rate of several that are added up: a mean over n tasks, with its sign and share.
struct WeighedRate {
  double rate = 0, n = 0, weight = 1;
};

/// Square-and-add over the Wilson intervals of independent rates, for any combination of them: "newcombe".
/// @source as combination_interval()
Interval square_and_add(std::span<const WeighedRate> rates, double confidence);

/// Differences a[i] - b[i] of per-task scores. @pre equal sizes @throws as sample_of()
Sample difference_sample(const std::vector<TaskCount>& a, const std::vector<TaskCount>& b);

/// The contract's rule for a difference a - b over the same tasks: the exact BCa interval of the mean paired
/// difference; with fewer than six tasks that differ, or where the ends meet: Newcombe with n = tasks. @pre
/// equal sizes, not empty
Interval difference_interval(const std::vector<TaskCount>& a, const std::vector<TaskCount>& b, double confidence);

}  // namespace nkigrid::aggregate
