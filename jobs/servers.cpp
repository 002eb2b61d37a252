#include "jobs/servers.hpp"

namespace nkigrid::jobs {

std::vector<KeptServer> servers_of(const Grid& grid, const std::set<std::string>& models) {
  std::set<std::string> wanted;
  for (const auto& model : grid.models) {
    if (models.contains(model.name)) wanted.insert(kept_server_of(model.api));
  }
  std::vector<KeptServer> servers;
  for (const auto& model : grid.models) {
    if (const auto* spec = own_server(model.api); spec != nullptr && wanted.contains(model.name))
      servers.push_back({model.name, spec});
  }
  return servers;
}

std::vector<KeptServer> servers_of(const Grid& grid) {
  std::set<std::string> models;
  for (const auto& cell : grid.cells) models.insert(cell.model);
  return servers_of(grid, models);
}

}  // namespace nkigrid::jobs
