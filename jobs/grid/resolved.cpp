#include "jobs/grid/resolved.hpp"

#include <utility>

#include <fmt/core.h>

#include "jobs/grid/flow_map.hpp"

namespace nkigrid::jobs {

Resolved read_resolved(const YamlNode& node, Problems& problems) {
  Resolved resolved;
  Fields fields(node, "resolved", problems);
  resolved.format = fields.integer("format", 0, 1);
  resolved.nkigrid_version = fields.text("nkigrid_version", "");
  resolved.run_id = fields.text("run_id", "");
  resolved.secret_hash = fields.text("secret", "");
  resolved.log_key_hash = fields.text("log_key", "");
  resolved.grid_hash = fields.text("grid_hash", "");
  resolved.seed = fields.integer64("seed", 0);
  resolved.subset = fields.text("subset", "");
  for (auto [key, map] :
       {std::pair<const char*, std::map<std::string, std::string>*>{"subsets", &resolved.cell_subsets},
        {"inputs", &resolved.inputs}}) {
    const auto* entries = fields.find(key);
    if (entries == nullptr) continue;
    for (const auto& item : entries->items) {
      if (const auto text = read_text(item, fmt::format("resolved.{}", key), problems)) (*map)[item.key] = *text;
    }
  }
  fields.finish();
  return resolved;
}

std::string to_yaml(const Resolved& resolved) {
  auto out = fmt::format("resolved:\n  format: {}\n  nkigrid_version: {}\n  run_id: {}\n  seed: {}\n  grid_hash: {}\n",
                         resolved.format, yaml_scalar(resolved.nkigrid_version), yaml_scalar(resolved.run_id),
                         resolved.seed, yaml_scalar(resolved.grid_hash));
  if (!resolved.secret_hash.empty()) out += fmt::format("  secret: {}\n", yaml_scalar(resolved.secret_hash));
  if (!resolved.log_key_hash.empty()) out += fmt::format("  log_key: {}\n", yaml_scalar(resolved.log_key_hash));
  if (!resolved.subset.empty()) out += fmt::format("  subset: {}\n", yaml_scalar(resolved.subset));
  if (!resolved.cell_subsets.empty()) {
    out += "  subsets:\n";
    for (const auto& [cell, subset] : resolved.cell_subsets)
      out += fmt::format("    {}: {}\n", yaml_scalar(cell), yaml_scalar(subset));
  }
  out += resolved.inputs.empty() ? "  inputs: {}\n" : "  inputs:\n";
  for (const auto& [path, hash] : resolved.inputs)
    out += fmt::format("    {}: {}\n", yaml_scalar(path), yaml_scalar(hash));
  return out;
}

}  // namespace nkigrid::jobs
