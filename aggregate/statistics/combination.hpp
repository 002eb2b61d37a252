#pragma once

#include <span>
#include <vector>

#include "aggregate/statistics/interval.hpp"
#include "aggregate/statistics/level_scatter.hpp"
#include "aggregate/statistics/paired.hpp"
#include "aggregate/statistics/sample.hpp"
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

/// The combination task by task. @throws Error{usage} as common_denominator()
Sample sample_of(const Combination& combination);

/// Bonett and Price's interval for the mean of paired differences, for any replicates and levels: two more tasks that
/// differ, one either way, then the normal interval of n + 2 tasks: (sum d -+ z sqrt(S + 2 c^2))/(n + 2), S
/// scatter_within_levels(). They differ as much as differing tasks do, c = (sum d^2 + 1)/(sum |d| + 1): by 1 where each
/// task was run once, which is their interval; so no width jumps as tasks come to differ.
/// @returns method bonett-price; it holds the mean
/// @source Bonett & Price 2012, J. Educ. Behav. Stat. 37:479
Interval bonett_price(const LevelValues& differences, double confidence);

/// What a table says of a combination.
struct Comparison {
  double value = 0;
  Interval interval;
  double p = 1;  ///< sign_flip(); at K = 1 McNemar's
};

/// The rule for differences: bonett_price() within the range of the combination. The test decides whether there is a
/// difference, and the interval says no other thing: where p is above 1 - confidence it holds 0 (an end is moved
/// there), else it ends a millionth before it; method bonett-price+test where an end was moved. @throws as sample_of()
Comparison compare(const Combination& combination, double confidence, PValue kind);

/// compare() of two cells, a - b. @pre equal sizes, not empty
Comparison compare(const std::vector<TaskCount>& a, const std::vector<TaskCount>& b, double confidence, PValue kind);

/// One rate of several that are added up: a mean over n tasks, with its sign and share.
struct WeighedRate {
  double rate = 0, n = 0, weight = 1;
};

/// Square-and-add over the Wilson intervals of independent rates, for any combination of them: "newcombe". For printed
/// counts, which pair nothing.
/// @source Newcombe 1998, Stat. Med. 17:873; Zou & Donner 2008, Stat. Med. 27:1693 (the same for sums of several)
Interval square_and_add(std::span<const WeighedRate> rates, double confidence);

}  // namespace nkigrid::aggregate
