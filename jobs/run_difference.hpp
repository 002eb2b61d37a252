#pragma once

#include <string>
#include <vector>

#include "jobs/benchmark.hpp"
#include "jobs/grid/grid.hpp"
#include "jobs/plan.hpp"

namespace nkigrid::jobs {

/// A grid with what it is planned from.
struct PlannedGrid {
  const Grid& grid;
  const Benchmark& benchmark;
  const Plan& plan;
};

/// Why `now` is no growth of the frozen `was`, one line a reason: another seed, other keys (with the fields
/// that differ), cells, tasks or replicates that are gone. Empty: it is one, or the same.
std::vector<std::string> growth_faults(const PlannedGrid& was, const PlannedGrid& now);

}  // namespace nkigrid::jobs
