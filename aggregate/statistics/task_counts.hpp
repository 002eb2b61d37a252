#pragma once

#include <cstdint>
#include <span>

#include "aggregate/statistics/level_scatter.hpp"

namespace nkigrid::aggregate {

/// Passes of one task over its replicates.
struct TaskCount {
  std::uint32_t passed = 0, replicates = 1;
  std::uint32_t stratum = 0;  ///< level; what is drawn or scatters, does so within it
};

/// True when all tasks have as many replicates.
bool has_equal_replicates(std::span<const TaskCount> tasks) noexcept;

/// The mean over tasks of passed/replicates: every task weighs alike, however many replicates it has. @pre tasks is not
/// empty, replicates >= 1
double mean_score(std::span<const TaskCount> tasks) noexcept;

/// passed/replicates by level, levels in the order of their numbers.
LevelValues scores_by_level(std::span<const TaskCount> tasks);

/// Values of tasks, by their level. @pre equal sizes
LevelValues values_by_level(std::span<const double> values, std::span<const TaskCount> tasks);

}  // namespace nkigrid::aggregate
