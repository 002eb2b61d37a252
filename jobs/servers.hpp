#pragma once

#include <set>
#include <string>
#include <vector>

#include "jobs/grid/grid.hpp"

/// The servers that a grid has started for its models (docs/decisions/servers.md).
namespace nkigrid::jobs {

/// A server by the name of the model that describes it; others may name it as theirs.
struct KeptServer {
  std::string name;
  const ServerSpec* spec = nullptr;  ///< of the grid
};

/// The servers that these models ask, each once, in the order of the grid.
std::vector<KeptServer> servers_of(const Grid& grid, const std::set<std::string>& models);
/// The same of every model that a cell uses.
std::vector<KeptServer> servers_of(const Grid& grid);

}  // namespace nkigrid::jobs
