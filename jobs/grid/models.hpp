#pragma once

#include <vector>

#include "jobs/grid/folders.hpp"
#include "jobs/grid/grid.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {

std::vector<ModelSpec> read_models(const YamlNode& node, const Folders& folders, Problems& problems);

}  // namespace nkigrid::jobs
