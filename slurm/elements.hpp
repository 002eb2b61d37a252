#pragma once

#include <vector>

#include "jobs/run_directory.hpp"
#include "jobs/scheduler.hpp"
#include "slurm/slurm.hpp"

namespace nkigrid::slurm {

/// How the elements of a run's newest submissions stand, by shard.
std::vector<jobs::ElementState> element_states(const jobs::Run& run, Client& client);

}  // namespace nkigrid::slurm
