#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "slurm/slurm.hpp"

/// What sbatch makes of a request on the client's side and the API does not.
namespace nkigrid::slurm {

/// The request's environment, and where, by whom and under which name it was submitted.
std::vector<std::string> submit_environment(const JobRequest& request);

/// True when a job is what a request asked for: a copy of a run sends the same comments from another folder.
bool is_of(const JobState& job, const JobRequest& request);

/// "65536M", "64G" or "0" (all of a node's memory), as the grid writes slurm.mem. @returns [MB]
std::uint64_t megabytes(const std::string& mem);

/// The nodes that a list like "trn[01-04,7],head" names. One group of brackets a name; what is written otherwise is
/// left out.
std::set<std::string> node_names(std::string_view list);

}  // namespace nkigrid::slurm
