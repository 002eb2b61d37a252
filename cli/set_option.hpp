#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace nkigrid::cli {

/// `--set KEY=VALUE`, any number of times: keys of a grid file, overridden on the command line.
void add_set_option(CLI::App& app, std::vector<std::string>& sets);

/// @throws Error{usage} where a frozen run is named: what it was frozen with stands
void refuse_sets_of_run(const std::vector<std::string>& sets, const std::string& run);

}  // namespace nkigrid::cli
