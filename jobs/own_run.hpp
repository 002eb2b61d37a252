#pragma once

#include <string>
#include <vector>

#include "jobs/run_directory.hpp"

namespace nkigrid::jobs {

/// The programs that a grid has this machine start with the user's rights, one a line of words: key commands and those
/// of backend `command`.
std::vector<std::string> commands_of(const Grid& grid);

/// Notes in RUN/made_by that this user has seen the run's commands: by a secret of the user's own
/// ($XDG_STATE_HOME/nkigrid, else ~/.local/state/nkigrid), which no sender of a run has. Nothing for a run without
/// commands, or a user without a home.
void mark_as_own(const Run& run);

/// True where that note stands, for these commands, and where there are none.
bool is_own(const Run& run);

}  // namespace nkigrid::jobs
