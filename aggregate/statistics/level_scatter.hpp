#pragma once

#include <vector>

namespace nkigrid::aggregate {

/// Values of tasks, level by level, in the levels' order; none empty.
using LevelValues = std::vector<std::vector<double>>;

/// The estimated variance of the sum over all tasks, the benchmark having fixed how many of them are of a level:
/// sum_s n_s/(n_s - 1) sum_i (x_si - m_s)^2. Levels are taken together, each with those that follow, until they have
/// five tasks: so few say too little of their scatter, and together they at most overstate it. 0 for one task.
/// @source Cochran, Sampling Techniques, 5.3 and 5A.12 (collapsed strata)
double scatter_within_levels(const LevelValues& levels);

}  // namespace nkigrid::aggregate
