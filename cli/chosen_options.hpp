#pragma once

#include "exports/chosen.hpp"

namespace CLI {
class App;
}

namespace nkigrid::cli {

/// Adds the options that choose episodes: --cell, --task, --level, --category, --outcome, --code. Each may be given
/// several times and holds patterns.
void add_chosen_options(CLI::App& app, exports::Chosen& chosen);

}  // namespace nkigrid::cli
