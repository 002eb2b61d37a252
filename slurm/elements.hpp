#pragma once

#include "jobs/run_directory.hpp"
#include "jobs/scheduler.hpp"
#include "slurm/slurm.hpp"

namespace nkigrid::slurm {

/// How the elements of a run's newest submissions stand, by shard, and its newest aggregation.
jobs::RunJobs run_jobs(const jobs::Run& run, Client& client);

}  // namespace nkigrid::slurm
