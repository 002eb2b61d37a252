#pragma once

#include <string>
#include <vector>

#include "jobs/grid/folders.hpp"
#include "jobs/grid/grid.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {

std::vector<PromptSpec> read_prompts(const YamlNode& node, const Folders& folders, Problems& problems);
CheckSpec read_check(const YamlNode& node, Problems& problems);
/// @param path dotted name of the section, for messages
Budget read_budget(const YamlNode& node, const std::string& path, Problems& problems);

}  // namespace nkigrid::jobs
