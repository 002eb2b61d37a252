#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobs/run_directory.hpp"
#include "jobs/scheduler.hpp"
#include "jobs/servers.hpp"
#include "slurm/slurm.hpp"

namespace nkigrid::slurm {

/// What the replicas of servers stand at, before a submit.
struct ServerJobs {
  std::vector<JobRequest> missing;               ///< to be submitted, with what must have ended before
  std::vector<jobs::Submission::Server> wanted;  ///< parallel to `missing`; their job is not known yet
  std::vector<std::string> begin_first = {};     ///< jobs that must have begun before an element may
};

/// The living servers are used, the others asked for: a job that its keeper ends, or that only completes, lives no
/// more. What is noted of a replica that is asked for is forgotten. @pre lock_submits() is held
/// @param names of jobs::KeptServer @param known jobs of the run
ServerJobs plan_servers(const jobs::Run& run, const std::vector<std::string>& names, const std::vector<JobState>& known,
                        std::uint32_t generation, const std::string& program);

/// The newest job of each replica that the controller knows.
std::vector<jobs::ServerJob> server_states(const jobs::Run& run, const std::vector<JobState>& known);

}  // namespace nkigrid::slurm
