#pragma once

#include <span>

#include "jobs/benchmark.hpp"
#include "jobs/forecast/costs.hpp"
#include "jobs/grid/grid.hpp"
#include "jobs/plan.hpp"

namespace nkigrid::jobs {

/// The episodes of a grid with their shards: balanced in count (within one episode) and in expected seconds, the same
/// for the same grid and costs whatever the order in its file, and decorrelated from the order of tasks and replicates.
/// @param grown_from earlier extents of the same run, oldest first: their episodes keep the shards they had
/// @param costs what shards are balanced by
Plan make_plan(const Grid& grid, const Benchmark& benchmark, std::span<const PlanExtent> grown_from = {},
               const CostModel& costs = {});

}  // namespace nkigrid::jobs
