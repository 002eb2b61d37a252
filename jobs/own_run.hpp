#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobs/run_directory.hpp"

namespace nkigrid::jobs {

/// What of a grid is about to be used: the device alone, or the models, too.
enum class UsedPart : std::uint8_t { device, all };

/// What a grid has this machine do with its user's rights, one a line of words: the programs that it starts (commands
/// of keys, headers and servers, the device's), and the user's secrets that it sends, with where to.
std::vector<std::string> rights_of(const Grid& grid, UsedPart part = UsedPart::all);

/// Notes in RUN/made_by that this user has seen what the run does with his rights: by a secret of the user's own
/// ($XDG_STATE_HOME/nkigrid, else ~/.local/state/nkigrid), which no sender of a run has. Nothing for a run that does
/// nothing with them, or a user without a home.
void mark_as_own(const Run& run);

/// True where that note stands, for all that the run does with them, and where `part` does nothing.
bool is_own(const Run& run, UsedPart part);

}  // namespace nkigrid::jobs
