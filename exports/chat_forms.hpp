#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "runner/model/chat.hpp"

namespace nkigrid::exports {

/// Tools as chat APIs take them: [{"type": "function", "function": {name, description, parameters}}].
nlohmann::ordered_json tools_json(const std::vector<model::ToolSpec>& tools);

/// On one line; bytes that are no UTF-8 are replaced.
std::string dumped(const nlohmann::ordered_json& json);

}  // namespace nkigrid::exports
