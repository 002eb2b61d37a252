#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jobs/grid/grid.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {

std::string_view to_string(ModeKind kind) noexcept;  ///< "single-shot", "multi-turn", "tool-agent"
/// The nudge that a mode sends when the grid names none.
std::string default_nudge(ModeKind kind);

std::vector<ModeSpec> read_modes(const YamlNode& node, Problems& problems);

}  // namespace nkigrid::jobs
