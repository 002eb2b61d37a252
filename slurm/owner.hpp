#pragma once

#include <filesystem>
#include <string>

#include "jobs/run_directory.hpp"
#include "slurm/slurm.hpp"

namespace nkigrid::slurm {

// Whose a job is. A copy of a run has its run id and its notes, so that the comments of the two runs' jobs begin alike;
// what tells them apart is the folder itself, by the device and the inode that it had at the submit: they survive a
// move and a new mount's name, and no copy has them.

/// The end of a comment that says which folder a job was submitted from: ", folder 66306:131074". "" where the folder
/// cannot be looked at.
std::string folder_mark(const std::filesystem::path& folder);

/// True when `job`, whose comment is of `run`'s id, was submitted from the folder of `run`, wherever that stands now.
///
/// The inode decides. A device's number is another one on each host of a network file system, so alone it says nothing;
/// with another inode it tells a run that was moved to another file system and stands where its jobs work (its own)
/// from a copy that took its place there. A job that says no folder is of the run that stands where it works, or of any
/// run when none does.
bool is_of_run(const JobState& job, const jobs::Run& run);

}  // namespace nkigrid::slurm
