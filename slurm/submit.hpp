#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "jobs/run_directory.hpp"
#include "jobs/scheduler.hpp"
#include "slurm/slurm.hpp"

namespace nkigrid::slurm {

/// jobs::Scheduler::submit(): each job is noted in RUN/jobs.json as soon as its id is known, and found again by its
/// comment when a crash lost the note. Where two submits made the same array all the same (a file system without
/// locks), the younger one is cancelled.
/// @throws Error{config} when the site's limits refuse the shards, before the first submit; Error{external}.
jobs::SubmitReport submit_shards(const jobs::Run& run, const jobs::SubmitRequest& request, Client& client);

/// Ends every living job of the run. @returns their ids.
std::vector<std::uint32_t> cancel_run(const jobs::Run& run, Client& client);

/// Elements start their ranks with the mpirun of the PATH that travels with them. @throws Error{external} without one
void check_launcher();

/// Things a submitted run may not have: keys from the environment, a folder whose name Slurm would read as a pattern.
/// @throws Error{config}
void check_submittable(const jobs::Grid& grid, const std::filesystem::path& folder);

}  // namespace nkigrid::slurm
