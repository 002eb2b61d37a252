#include "cli/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "jobs/base/json_depth.hpp"

namespace nkigrid::cli {
namespace {

std::string text_of(const nlohmann::ordered_json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string element_of(const nlohmann::ordered_json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_object() ? found->dump() : "";
}

std::string value_of(const nlohmann::ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

Findings parse_findings(std::string_view json) {
  Findings findings;
  const auto object = nlohmann::ordered_json::parse(shallow_part(json), nullptr, false);
  if (!object.is_object()) return findings;
  findings.message = text_of(object, "message");
  for (const auto& hint : object.value("hints", nlohmann::ordered_json::array())) {
    if (hint.is_string()) findings.hints += (findings.hints.empty() ? "" : "\n") + hint.get<std::string>();
  }
  findings.first = element_of(object, "first");
  findings.worst = element_of(object, "worst");
  return findings;
}

std::string describe_element(std::string_view json) {
  const auto element = nlohmann::ordered_json::parse(shallow_part(json), nullptr, false);
  for (const char* name : {"output", "index", "got", "want"}) {
    if (!element.is_object() || !element.contains(name)) return "";
  }
  std::vector<std::string> index;
  for (const auto& at : element["index"]) index.push_back(at.dump());
  return fmt::format("[{}] of output {} is {}, the reference {}", fmt::join(index, ", "), element["output"].dump(),
                     value_of(element["got"]), value_of(element["want"]));
}

}  // namespace nkigrid::cli
