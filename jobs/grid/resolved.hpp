#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {

/// What stands under `resolved:` in RUN/grid.yaml.
struct Resolved {
  std::uint32_t format = 1;
  std::string nkigrid_version, run_id, grid_hash;
  std::string secret_hash;   ///< SHA-256 of RUN/secret; "": none
  std::string log_key_hash;  ///< SHA-256 of RUN/log_key; "": none
  std::uint64_t seed = 0;
  std::string subset;                               ///< name behind the top-level `tasks`, or ""
  std::map<std::string, std::string> cell_subsets;  ///< cell id -> subset name
  std::map<std::string, std::string> inputs;        ///< path in RUN/inputs -> SHA-256 (hex)
};

Resolved read_resolved(const YamlNode& node, Problems& problems);
/// The section as YAML.
std::string to_yaml(const Resolved& resolved);

}  // namespace nkigrid::jobs
