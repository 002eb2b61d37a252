#include "runner/model/profile.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/ids.hpp"
#include "jobs/base/text.hpp"
#include "runner/model/faults.hpp"

namespace nkigrid::model {
namespace {

/// Reads one mapping: every key is read at most once, what is left over is an error.
class Section {
 public:
  Section(const YAML::Node& node, std::string label, std::string where)
      : node_(node), label_(std::move(label)), where_(std::move(where)) {
    if (!node_.IsMap()) fail(node_, fmt::format("'{}' is no mapping", where_));
    for (const auto& item : node_) {
      if (!keys_.insert(item.first.Scalar()).second) fail(item.first, fmt::format("duplicate key '{}'", item.first.Scalar()));
    }
  }

  [[noreturn]] void fail(const YAML::Node& at, const std::string& what) const {
    const YAML::Mark mark = at.Mark();
    throw Error(ErrorCode::config, fmt::format("{}:{}:{}: {}", label_, mark.line + 1, mark.column + 1, what));
  }

  std::optional<YAML::Node> take(const std::string& key) {
    known_.push_back(key);
    if (keys_.erase(key) == 0) return std::nullopt;
    return node_[key];
  }

  void number(const std::string& key, double& value, double most = 1.0) {
    const auto node = take(key);
    if (node) value = read_number(*node, key, most);
  }

  double read_number(const YAML::Node& node, const std::string& key, double most) const {
    double value = 0;
    try {
      value = node.as<double>();
    } catch (const YAML::Exception&) {
      fail(node, fmt::format("'{}' is no number", key));
    }
    if (!(value >= 0 && value <= most)) fail(node, fmt::format("'{}' is {} (legal: 0 to {})", key, value, most));
    return value;
  }

  void distribution(const std::string& key, std::vector<double>& values) {
    const auto node = take(key);
    if (!node) return;
    if (!node->IsSequence() || node->size() == 0) fail(*node, fmt::format("'{}' is no list of chances", key));
    values.clear();
    double sum = 0;
    for (const auto& item : *node) sum += values.emplace_back(read_number(item, key, 1.0));
    if (std::abs(sum - 1) > 1e-9) fail(*node, fmt::format("'{}' sums to {} (must be 1)", key, sum));
  }

  void finish() const {
    if (keys_.empty()) return;
    const std::string& key = *keys_.begin();
    fail(node_, fmt::format("unknown key '{}' in '{}'{}", key, where_, did_you_mean(key, known_)));
  }

 private:
  YAML::Node node_;
  std::string label_, where_;
  std::set<std::string> keys_;
  std::vector<std::string> known_;
};

LevelProfile read_level(Section section, const YAML::Node& node) {
  LevelProfile level;
  section.distribution("faults", level.faults);
  if (level.faults.empty()) section.fail(node, "'faults' is missing");
  level.tool_faults = level.faults;
  section.distribution("tool_faults", level.tool_faults);
  section.number("no_code", level.no_code);
  section.number("truncated", level.truncated);
  section.number("unclosed_fence", level.unclosed_fence);
  section.number("bad_arguments", level.bad_arguments);
  section.number("gives_up", level.gives_up);
  section.number("over_reacts", level.over_reacts);
  section.finish();
  return level;
}

RepairProfile read_repair(Section section) {
  RepairProfile repair;
  section.number("exact", repair.exact);
  section.number("named", repair.named);
  section.number("hinted", repair.hinted);
  section.number("vague", repair.vague);
  section.number("unrelated", repair.unrelated);
  section.number("blind", repair.blind);
  section.number("raw_text", repair.raw_text);
  section.finish();
  return repair;
}

void read_weights(const YAML::Node& node, const std::string& label, Profile& profile) {
  const Section section(node, label, "weights");
  for (const auto& item : node) {
    const std::string fault = item.first.Scalar();
    if (find_fault(fault) == nullptr) {
      std::vector<std::string> names;
      for (const Fault& known : all_faults()) names.emplace_back(known.name);
      section.fail(item.first, fmt::format("unknown fault '{}' in 'weights'{}", fault, did_you_mean(fault, names)));
    }
    profile.weights[fault] = section.read_number(item.second, fault, 1000);
  }
}

void check_format(Section& top, const YAML::Node& root) {
  const auto format = top.take("format");
  const auto version = top.take("version");
  if (!format || format->Scalar() != "nkigrid-profile") top.fail(root, "this is no profile ('format: nkigrid-profile' is missing)");
  if (!version || version->Scalar() != "1") top.fail(root, "unknown profile version (legal: 1)");
}

}  // namespace

const LevelProfile& Profile::level(const std::string& wanted) const {
  const auto it = levels.find(wanted);
  return it == levels.end() ? levels.rbegin()->second : it->second;
}

Profile parse_profile(std::string_view yaml, std::string name, const std::string& label) {
  YAML::Node root;
  try {
    root = YAML::Load(std::string(yaml));
  } catch (const YAML::Exception& error) {
    throw Error(ErrorCode::config, fmt::format("{}: {}", label, error.what()));
  }
  Profile profile;
  profile.name = std::move(name);
  profile.hash = sha256_hex(yaml);
  Section top(root, label, "profile");
  check_format(top, root);
  if (const auto about = top.take("about")) profile.about = about->Scalar();
  if (const auto levels = top.take("levels")) {
    const Section section(*levels, label, "levels");
    for (const auto& item : *levels) {
      const std::string level = item.first.Scalar();
      profile.levels[level] = read_level(Section(item.second, label, "levels." + level), item.second);
    }
  }
  if (profile.levels.empty()) top.fail(root, "'levels' is missing or empty");
  if (const auto repair = top.take("repair")) profile.repair = read_repair(Section(*repair, label, "repair"));
  if (const auto weights = top.take("weights")) read_weights(*weights, label, profile);
  top.number("drift", profile.drift);
  top.number("same_reply", profile.same_reply);
  top.finish();
  return profile;
}

Profile load_profile(const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path file = folder / (name + ".yaml");
  std::error_code ignored;
  if (is_name(name) && std::filesystem::is_regular_file(file, ignored)) return parse_profile(read_file(file), name, file.string());
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  throw Error(ErrorCode::config, fmt::format("no profile '{}' in '{}' (there are: {}){}", name, folder.string(), fmt::join(names, ", "),
                                             did_you_mean(name, names)));
}

}  // namespace nkigrid::model
