#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "jobs/grid/folders.hpp"
#include "jobs/grid/yaml_tree.hpp"

namespace nkigrid::jobs {

/// The tree of a grid file laid over those that it includes (`include: FILE`, or a list; a later one lies over an
/// earlier one), and what the command line sets laid over that. Of the sections that are maps (models, modes, check
/// ...) each entry replaces the one of its name whole; everything else replaces what has its key; an empty value (null)
/// takes out what it is laid over. Every node keeps the place at which it was written.
/// @param sets "models.qwen.temperature=0.2": dots lead into maps; the value is YAML
/// @param folders learns the folder of each text
/// @returns nothing when a file is no YAML, or cannot be included
std::optional<YamlNode> read_layers(const std::filesystem::path& file, Folders& folders,
                                    const std::vector<std::string>& sets, Problems& problems);

}  // namespace nkigrid::jobs
