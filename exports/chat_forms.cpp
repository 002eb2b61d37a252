#include "exports/chat_forms.hpp"

#include <nlohmann/json.hpp>

namespace nkigrid::exports {

nlohmann::ordered_json tools_json(const std::vector<model::ToolSpec>& tools) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& tool : tools) {
    list.push_back({{"type", "function"},
                    {"function",
                     {{"name", tool.name},
                      {"description", tool.description},
                      {"parameters", nlohmann::ordered_json::parse(tool.parameters)}}}});
  }
  return list;
}

std::string dumped(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace nkigrid::exports
