#include "runner/model/synthetic/profile.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/ids.hpp"
#include "jobs/base/text.hpp"
#include "jobs/grid/yaml_reader.hpp"
#include "runner/model/synthetic/faults.hpp"

namespace nkigrid::model {
namespace {

void read_distribution(jobs::Fields& fields, std::string_view key, std::vector<double>& chances) {
  const jobs::YamlNode* node = fields.find(key);
  if (node == nullptr) return;
  const std::string path = fields.path_of(key);
  if (node->kind != jobs::YamlNode::Kind::list || node->items.empty()) {
    return fields.problems().add(node->place,
                                 fmt::format("{} is {} (legal: a list of chances)", path, jobs::describe(*node)));
  }
  chances.clear();
  double sum = 0;
  for (const jobs::YamlNode& item : node->items) {
    const auto chance = jobs::read_number(item, path, 0, 1, fields.problems());
    if (!chance) return;
    sum += chances.emplace_back(*chance);
  }
  if (std::abs(sum - 1) > 1e-9)
    fields.problems().add(node->place, fmt::format("{} sums to {:.6g} (must be 1)", path, sum));
}

LevelProfile read_level(const jobs::YamlNode& node, jobs::Problems& problems) {
  jobs::Fields fields(node, "levels." + node.key, problems);
  LevelProfile level;
  fields.require("faults");
  read_distribution(fields, "faults", level.faults);
  level.tool_faults = level.faults;
  read_distribution(fields, "tool_faults", level.tool_faults);
  for (const auto& [key, value] : {std::pair{"no_code", &level.no_code},
                                   {"truncated", &level.truncated},
                                   {"unclosed_fence", &level.unclosed_fence},
                                   {"bad_arguments", &level.bad_arguments},
                                   {"gives_up", &level.gives_up},
                                   {"over_reacts", &level.over_reacts}}) {
    *value = fields.number(key, *value, 0, 1);
  }
  fields.finish();
  return level;
}

RepairProfile read_repair(const jobs::YamlNode& node, jobs::Problems& problems) {
  jobs::Fields fields(node, "repair", problems);
  RepairProfile repair;
  for (const auto& [key, value] : {std::pair{"exact", &repair.exact},
                                   {"named", &repair.named},
                                   {"hinted", &repair.hinted},
                                   {"vague", &repair.vague},
                                   {"unrelated", &repair.unrelated},
                                   {"blind", &repair.blind},
                                   {"raw_text", &repair.raw_text}}) {
    *value = fields.number(key, *value, 0, 1);
  }
  fields.finish();
  return repair;
}

std::map<std::string, double> read_weights(const jobs::YamlNode& node, jobs::Problems& problems) {
  jobs::Fields fields(node, "weights", problems);
  std::map<std::string, double> weights;
  for (const Fault& fault : all_faults()) {
    if (fields.find(fault.name) != nullptr) weights[std::string(fault.name)] = fields.number(fault.name, 1, 0, 1000);
  }
  fields.finish();
  return weights;
}

void read_levels(const jobs::YamlNode& node, jobs::Problems& problems, Profile& profile) {
  if (node.kind != jobs::YamlNode::Kind::map || node.items.empty()) {
    return problems.add(node.place, fmt::format("levels is {} (legal: a map of levels, e.g. L1: {{faults: [1]}})",
                                                jobs::describe(node)));
  }
  for (const jobs::YamlNode& level : node.items) profile.levels[level.key] = read_level(level, problems);
}

void read_profile(const jobs::YamlNode& root, jobs::Problems& problems, Profile& profile) {
  static const std::vector<std::string> kFormats = {"nkigrid-profile"};
  jobs::Fields fields(root, "", problems);
  fields.require("format");
  fields.require("version");
  fields.choice("format", "nkigrid-profile", kFormats);
  fields.integer("version", 1, 1, 1);
  profile.about = fields.text("about", "");
  if (const auto* levels = fields.require("levels")) read_levels(*levels, problems, profile);
  if (const auto* repair = fields.find("repair")) profile.repair = read_repair(*repair, problems);
  if (const auto* weights = fields.find("weights")) profile.weights = read_weights(*weights, problems);
  profile.drift = fields.number("drift", 0, 0, 1);
  profile.same_reply = fields.number("same_reply", 0, 0, 1);
  fields.finish();
}

}  // namespace

const LevelProfile& Profile::level(const std::string& wanted) const {
  const auto it = levels.find(wanted);
  return it == levels.end() ? levels.rbegin()->second : it->second;
}

Profile parse_profile(std::string_view yaml, std::string name, const std::string& label) {
  Profile profile;
  profile.name = std::move(name);
  profile.hash = sha256_hex(yaml);
  jobs::Problems problems(label);
  if (const auto root = jobs::parse_yaml(yaml, problems)) read_profile(*root, problems, profile);
  if (!problems.empty()) throw Error(ErrorCode::config, jobs::to_text(problems.sorted()));
  return profile;
}

Profile load_profile(const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path file = folder / (name + ".yaml");
  std::error_code ignored;
  if (is_name(name) && std::filesystem::is_regular_file(file, ignored))
    return parse_profile(read_file(file), name, file.string());
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  throw Error(ErrorCode::config, fmt::format("no profile '{}' in '{}' (there are: {}){}", name, folder.string(),
                                             fmt::join(names, ", "), did_you_mean(name, names)));
}

}  // namespace nkigrid::model
