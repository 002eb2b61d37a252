#include "jobs/grid/models.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include <fmt/core.h>

#include "jobs/grid/prices.hpp"
#include "jobs/grid/sections.hpp"

namespace nkigrid::jobs {
namespace {

/// The keys that every api has.
void read_common(Fields& fields, ModelSpec& model) {
  auto& problems = fields.problems();
  if (const auto* node = fields.find("temperature"))
    model.temperature = read_number(*node, fields.path_of("temperature"), 0, 2, problems);
  if (const auto* node = fields.find("top_p"))
    model.top_p = read_number(*node, fields.path_of("top_p"), 0, 1, problems);
  if (fields.find("max_tokens") != nullptr) model.max_tokens = fields.integer("max_tokens", 0, 1);
  model.call_recovery = fields.flag("call_recovery", model.call_recovery);
  model.concurrency = fields.integer("concurrency", 0, 0);
  model.request_timeout = fields.duration("request_timeout", model.request_timeout);
  model.retry_limit = fields.duration("retry_limit", model.retry_limit);
  if (const auto* node = fields.find("price")) model.price = read_price(*node, fields.path_of("price"), problems);
  if (fields.find("method") != nullptr) model.method = fields.text("method", "");
  if (const auto* node = fields.find("budget")) model.budget = read_budget(*node, fields.path_of("budget"), problems);
}

ModelSpec read_model(const YamlNode& node, const Folders& folders, Problems& problems) {
  ModelSpec model;
  model.name = node.key;
  Fields fields(node, fmt::format("models.{}", node.key), problems);
  read_common(fields, model);
  model.api = read_api(fields, folders, model.name);
  fields.finish();
  return model;
}

/// Who names another model's server asks it where that one is.
void share_servers(const YamlNode& node, std::vector<ModelSpec>& models, Problems& problems) {
  for (std::size_t m = 0; m < models.size(); ++m) {
    const auto name = kept_server_of(models[m].api);
    if (name.empty() || own_server(models[m].api) != nullptr) continue;
    const auto owner = std::find_if(models.begin(), models.end(), [&](const auto& other) {
      return other.name == name && own_server(other.api) != nullptr;
    });
    if (owner != models.end())
      share_server(models[m].api, owner->api);
    else
      problems.add(node.items[m].place,
                   fmt::format("models.{}.server is '{}' (the name of a model with a server of its "
                               "own, or a map with a command, is wanted)",
                               models[m].name, name));
  }
}

}  // namespace

std::vector<ModelSpec> read_models(const YamlNode& node, const Folders& folders, Problems& problems) {
  std::vector<ModelSpec> models;
  for (const auto& item : node.items) models.push_back(read_model(item, folders, problems));
  share_servers(node, models, problems);
  return models;
}

}  // namespace nkigrid::jobs
