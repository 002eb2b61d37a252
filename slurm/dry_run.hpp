#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobs/run_directory.hpp"
#include "jobs/scheduler.hpp"
#include "slurm/slurm.hpp"

namespace nkigrid::slurm {

/// What submit_shards() would do to a cluster where nothing of this run lives, as files that do it by hand:
/// elements-0.sh ... and aggregation.sh for sbatch, and submit.sh, which hands them to it in their order with their
/// dependencies. Needs no Slurm.
/// @throws Error{config} when `limits` refuse them
std::vector<jobs::DryRun::Script> dry_run(const jobs::Run& run, const std::vector<std::uint32_t>& shards,
                                          const Limits& limits, const std::string& program);

}  // namespace nkigrid::slurm
