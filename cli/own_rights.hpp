#pragma once

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

/// --trust-commands, the same for every verb. @param trusted outlives the app
void add_trust_option(CLI::App& app, bool& trusted);

}  // namespace nkigrid::cli
