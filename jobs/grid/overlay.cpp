#include "jobs/grid/overlay.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/text.hpp"
#include "jobs/grid/named_file.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;
namespace {

constexpr int kDeepestInclude = 8;

YamlNode* child_of(YamlNode& map, std::string_view key) {
  const auto at = std::find_if(map.items.begin(), map.items.end(), [&](const auto& item) { return item.key == key; });
  return at == map.items.end() ? nullptr : &*at;
}

void replace(YamlNode& map, YamlNode by) {
  if (auto* own = child_of(map, by.key))
    *own = std::move(by);
  else
    map.items.push_back(std::move(by));
}

/// `over` upon `base`: sections that are maps in both are laid together by the names in them.
void lay(YamlNode& base, YamlNode over) {
  for (auto& section : over.items) {
    auto* own = child_of(base, section.key);
    const bool both = own != nullptr && own->kind == YamlNode::Kind::map && section.kind == YamlNode::Kind::map;
    if (!both) {
      replace(base, std::move(section));
      continue;
    }
    for (auto& entry : section.items) replace(*own, std::move(entry));
    own->place = section.place;
    own->key_place = section.key_place;
  }
}

void move_to(YamlNode& node, Place place) {
  node.place = node.key_place = place;
  for (auto& item : node.items) move_to(item, place);
}

YamlNode* take_section(YamlNode& tree, std::string_view key, YamlNode& taken) {
  auto* found = tree.kind == YamlNode::Kind::map ? child_of(tree, key) : nullptr;
  if (found == nullptr) return nullptr;
  taken = *found;
  tree.items.erase(tree.items.begin() + (found - tree.items.data()));
  return &taken;
}

std::optional<YamlNode> read_layer(const fs::path& file, const Folders& folders, int depth, Problems& problems);

/// Adds what one `include` names; a problem of that file is one of the place that names it.
void add_included(YamlNode& base, const PlacedText& named, const Folders& folders, int depth, Problems& problems) {
  const auto file = folders.find(named.text);
  std::error_code none;
  if (file && fs::symlink_status(*file, none).type() != fs::file_type::regular) {
    problems.add(named.place,
                 fmt::format("'{}' is no regular file (a link is none); include a grid file itself", file->native()));
    return;
  }
  if (!file) {
    problems.add(named.place, fmt::format("no file '{}' to include{}", named.text, folders.looked_in()));
    return;
  }
  if (depth >= kDeepestInclude) {
    problems.add(named.place,
                 fmt::format("'{}' is included {} files deep; does it include itself?", named.text, depth));
    return;
  }
  Problems inside(file->native());
  auto tree = read_layer(*file, {file->parent_path(), folders.configs}, depth + 1, inside);
  for (const auto& problem : inside.sorted()) {
    problems.add(named.place, fmt::format("in '{}', line {}: {}", file->native(), problem.line, problem.message));
  }
  if (!tree || tree->kind == YamlNode::Kind::null) return;
  if (tree->kind != YamlNode::Kind::map) {
    problems.add(named.place,
                 fmt::format("'{}' is {} (a map of a grid's keys is wanted)", file->native(), describe(*tree)));
    return;
  }
  move_to(*tree, named.place);
  lay(base, std::move(*tree));
}

/// @param depth 0: the grid itself, which its user named; what it includes, a stranger may have
std::optional<YamlNode> read_layer(const fs::path& file, const Folders& folders, int depth, Problems& problems) {
  auto tree = parse_yaml(depth == 0 ? read_file(file) : read_named_file(file), problems);
  YamlNode include;
  if (!tree || take_section(*tree, "include", include) == nullptr) return tree;
  YamlNode base;
  base.kind = YamlNode::Kind::map;
  base.place = tree->place;
  for (const auto& named : read_texts(include, "include", problems))
    add_included(base, named, folders, depth, problems);
  lay(base, std::move(*tree));
  return base;
}

/// The value of a `--set`; it has no place in any file.
std::optional<YamlNode> set_value(const std::string& text, const std::string& set, Problems& problems) {
  Problems inside("--set");
  auto value = parse_yaml(text, inside);
  if (!inside.empty() || !value) {
    problems.add({}, fmt::format("--set '{}': the value is no YAML", set));
    return std::nullopt;
  }
  move_to(*value, {});
  return value;
}

/// Whether a section's keys are names that the grid gives: a word that is none of them is a slip there.
bool holds_names(std::string_view section) { return section == "models" || section == "modes" || section == "prompts"; }

std::vector<std::string> words_in(const YamlNode& map) {
  std::vector<std::string> keys;
  for (const auto& item : map.items) keys.push_back(item.key);
  return keys;
}

/// The section `key` of a map, made where it is absent or empty: whether there may be one is the reader's to say.
/// @returns null after a problem
YamlNode* section_of(YamlNode& map, std::string_view key, const std::string& set, Problems& problems) {
  auto* found = child_of(map, key);
  if (found == nullptr && holds_names(map.key)) {
    problems.add({}, fmt::format("--set '{}': no '{}' in {}{}", set, key, map.key, did_you_mean(key, words_in(map))));
    return nullptr;
  }
  if (found == nullptr) found = &map.items.emplace_back();
  if (found->kind == YamlNode::Kind::map) return found;
  if (found->kind != YamlNode::Kind::null) {
    problems.add({}, fmt::format("--set '{}': {} is {} in this grid, which has no keys", set, key, describe(*found)));
    return nullptr;
  }
  found->kind = YamlNode::Kind::map;
  found->key = key;
  return found;
}

void apply_set(YamlNode& tree, const std::string& set, Problems& problems) {
  const auto equals = set.find('=');
  if (equals == std::string::npos || equals == 0) {
    problems.add({}, fmt::format("--set '{}' has no value (KEY.KEY=VALUE is wanted)", set));
    return;
  }
  auto value = set_value(set.substr(equals + 1), set, problems);
  if (!value) return;
  auto* at = &tree;
  std::string_view path = std::string_view(set).substr(0, equals);
  for (auto dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    at = section_of(*at, path.substr(0, dot), set, problems);
    if (at == nullptr) return;
    path.remove_prefix(dot + 1);
  }
  value->key = path;
  replace(*at, std::move(*value));
}

}  // namespace

std::optional<YamlNode> read_layers(const fs::path& file, const Folders& folders, const std::vector<std::string>& sets,
                                    Problems& problems) {
  auto tree = read_layer(file, folders, 0, problems);
  if (!tree || tree->kind != YamlNode::Kind::map) return tree;
  for (const auto& set : sets) apply_set(*tree, set, problems);
  return tree;
}

}  // namespace nkigrid::jobs
