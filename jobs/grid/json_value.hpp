#pragma once

#include <string>

#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {

/// A part of the grid that goes to a server as it is, as JSON text; keys in their order of names. Scalars are what YAML
/// 1.2's JSON schema makes of them: true, false, null and numbers, else text.
/// @param what names it in messages, e.g. "models.qwen.body". A key of a provider in it is a problem.
std::string read_json_object(const YamlNode& node, const std::string& what, Problems& problems);

}  // namespace nkigrid::jobs
