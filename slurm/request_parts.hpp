#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slurm/slurm.hpp"

/// What sbatch makes of a request on the client's side and the API does not.
namespace nkigrid::slurm {

/// The request's environment, and where, by whom and under which name it was submitted.
std::vector<std::string> submit_environment(const JobRequest& request);

/// "65536M", "64G" or "0" (all of a node's memory), as the grid writes slurm.mem. @returns [MB]
std::uint64_t megabytes(const std::string& mem);

}  // namespace nkigrid::slurm
