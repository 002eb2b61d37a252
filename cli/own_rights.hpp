#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "jobs/own_run.hpp"
#include "jobs/run_directory.hpp"

namespace CLI {
class App;
}

namespace nkigrid::cli {

/// Lets a run that somebody else froze start its commands and send keys only when its user says so: at the terminal, or
/// by --trust-commands. An answer is kept in the run.
/// @param trusted the option was given @param may_ask there is one process, which may read the terminal
/// @throws Error{config} that shows what the run does
void require_own_rights(const jobs::Run& run, jobs::UsedPart part, bool trusted, bool may_ask);

/// The grid of a verb that starts what it names and sends its keys: one that lies in a run is that run's, and is asked
/// about as the run is.
/// @throws Error{config} also for what is wrong with the grid
jobs::Grid open_grid_to_use(const std::filesystem::path& file, const std::vector<std::string>& sets,
                            jobs::UsedPart part, bool trusted);

/// --trust-commands, the same for every verb. @param trusted outlives the app
void add_trust_option(CLI::App& app, bool& trusted);

}  // namespace nkigrid::cli
