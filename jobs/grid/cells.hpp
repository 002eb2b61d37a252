#pragma once

#include <optional>

#include "jobs/benchmark.hpp"
#include "jobs/grid/grid.hpp"
#include "jobs/grid/tasks.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {

/// Fills grid.cells from the products of `cells:`. Models, modes and prompts are in `grid` already.
/// @param benchmark null when it could not be loaded: then tasks are not looked at
/// @param tasks the grid's own `tasks`, for entries that name none
void read_cells(const YamlNode& node, const Benchmark* benchmark, const std::optional<TaskChoice>& tasks,
                bool has_tasks, Grid& grid, Problems& problems);

}  // namespace nkigrid::jobs
