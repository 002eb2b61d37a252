#pragma once

#include <cstdint>
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

/// Wilson's score interval. @param rate may be a mean over replicates, `n` is the number of tasks
/// @source Wilson 1927, JASA 22:209
Interval wilson(double rate, double n, double level);

/// The contract's rule for one rate: one replicate a task: Wilson; at most five tasks with any pass, or any failure: Wilson with
/// n = tasks; else the exact BCa interval (half of the ties) of the mean over tasks, tasks resampled within strata.
Interval rate_interval(std::span<const TaskCount> tasks, double level);

}  // namespace nkigrid::aggregate
