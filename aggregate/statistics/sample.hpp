#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aggregate/statistics/task_counts.hpp"

namespace nkigrid::aggregate {

/// Task scores, or paired task differences, as integers over one denominator, grouped by the level of their task.
struct Sample {
  std::int64_t denominator = 1;
  std::vector<std::vector<std::int64_t>> strata;  ///< none empty

  std::int64_t sum() const noexcept;
};

/// The least common multiple of all replicates. @param summed tasks that a sum runs over
/// @throws Error{usage} when summed x multiple is beyond 4,194,304 points (very unequal replicates)
std::int64_t common_denominator(std::span<const TaskCount> tasks, std::size_t summed);
/// passed/replicates in units of 1/denominator.
std::int64_t scaled_score(const TaskCount& task, std::int64_t denominator) noexcept;
/// Scores by the stratum of their task. @pre equal sizes
Sample group_by_stratum(std::int64_t denominator, std::span<const TaskCount> tasks,
                        std::span<const std::int64_t> scores);

}  // namespace nkigrid::aggregate
