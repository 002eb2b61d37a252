#include "cli/json_text.hpp"

#include <nlohmann/json.hpp>

namespace nkigrid::cli {

std::string json_text(const nlohmann::ordered_json& document, int indent) {
  return document.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace nkigrid::cli
