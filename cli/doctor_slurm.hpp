#pragma once

#include <optional>
#include <vector>

#include "cli/finding.hpp"
#include "jobs/grid/grid.hpp"

namespace nkigrid::cli {

/// The Slurm part of `doctor`: the controller, its limits, and whether `grid` fits them and its partition. None of it
/// is needed to run here.
std::vector<Finding> look_at_slurm(const std::optional<jobs::Grid>& grid);

/// Submits an array of two elements, a minute each, with the grid's resources: each runs `doctor` on its node. Waits
/// for both and tells what they said. Leaves its folder (nkigrid-probe-*, in the current folder) behind when something
/// failed.
std::vector<Finding> probe_slurm(const jobs::Grid& grid, Seconds patience);

}  // namespace nkigrid::cli
