#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/base/clock.hpp"
#include "jobs/finding.hpp"
#include "jobs/grid/grid.hpp"

namespace nkigrid::slurm {

/// The Slurm part of `doctor`: the controller, its limits, and whether `grid` fits them and its partition. None of it
/// is needed to run here.
std::vector<jobs::Finding> look_at_slurm(const std::optional<jobs::Grid>& grid);

/// Submits an array of two elements, a minute each, with the grid's resources: each runs `doctor` on its node. Waits
/// for both and tells what they said. Leaves its folder (nkigrid-probe-*, in the current folder) behind when something
/// failed.
std::vector<jobs::Finding> probe_slurm(const jobs::Grid& grid, const std::string& program, Seconds patience);

}  // namespace nkigrid::slurm
