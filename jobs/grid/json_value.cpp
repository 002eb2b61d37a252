#include "jobs/grid/json_value.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "jobs/base/key_like.hpp"

namespace nkigrid::jobs {
namespace {

using Json = nlohmann::json;

Json scalar_json(const YamlNode& node) {
  if (node.quoted) return node.text;
  const Json read = Json::parse(node.text, nullptr, false);
  return read.is_number() || read.is_boolean() || read.is_null() ? read : Json(node.text);
}

Json json_of(const YamlNode& node, const std::string& what, Problems& problems) {
  Json json;
  switch (node.kind) {
    case YamlNode::Kind::null:
      break;
    case YamlNode::Kind::scalar:
      if (looks_like_key(node.text))
        problems.add(node.place,
                     fmt::format("{} is a key (not shown here); a key itself never stands in a grid", what));
      return scalar_json(node);
    case YamlNode::Kind::list:
      json = Json::array();
      for (const auto& item : node.items) json.push_back(json_of(item, what, problems));
      break;
    case YamlNode::Kind::map:
      json = Json::object();
      for (const auto& item : node.items)
        json[item.key] = json_of(item, fmt::format("{}.{}", what, item.key), problems);
      break;
  }
  return json;
}

}  // namespace

std::string read_json_object(const YamlNode& node, const std::string& what, Problems& problems) {
  if (node.kind != YamlNode::Kind::map) {
    problems.add(node.place, fmt::format("{} is {} (a map is wanted: keys of the request)", what, describe(node)));
    return "";
  }
  const Json json = json_of(node, what, problems);
  return json.empty() ? "" : json.dump();
}

}  // namespace nkigrid::jobs
