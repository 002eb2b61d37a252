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

constexpr std::size_t kDeepestInclude = 8;

YamlNode* child_of(YamlNode& map, std::string_view key) {
  const auto at = std::find_if(map.items.begin(), map.items.end(), [&](const auto& item) { return item.key == key; });
  return at == map.items.end() ? nullptr : &*at;
}

/// An empty value takes out what it is laid over. @returns whether there was something of its key
bool replace(YamlNode& map, YamlNode by) {
  auto* own = child_of(map, by.key);
  const bool was_there = own != nullptr;
  if (!was_there)
    map.items.push_back(std::move(by));
  else if (by.kind == YamlNode::Kind::null)
    map.items.erase(map.items.begin() + (own - map.items.data()));
  else
    *own = std::move(by);
  return was_there;
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

/// Reads the layers of one grid.
class Layers {
 public:
  Layers(Folders& folders, Problems& problems) : folders_(folders), problems_(problems) {}

  /// The file over what it includes. The grid itself is named by its user, what it includes a stranger may have.
  std::optional<YamlNode> read(const fs::path& file, std::uint32_t source) {
    auto tree = parse_yaml(files_.empty() ? read_file(file) : read_named_file(file), problems_, source);
    YamlNode include;
    if (!tree || take_section(*tree, "include", include) == nullptr) return tree;
    files_.push_back(file);
    YamlNode base;
    base.kind = YamlNode::Kind::map;
    base.place = tree->place;
    const auto before = problems_.size();
    for (const auto& named : read_texts(include, "include", problems_)) add(base, named);
    files_.pop_back();
    if (problems_.size() > before) return std::nullopt;  // what is missing then is not the file's to mend
    lay(base, std::move(*tree));
    return base;
  }

 private:
  void add(YamlNode& base, const PlacedText& named) {
    const auto found = find(named);
    if (!found) return;
    const auto source = problems_.add_source(found->native());
    folders_.beside.resize(source + 1, folders_.base);
    folders_.beside[source] = found->has_parent_path() ? found->parent_path() : fs::path(".");
    auto tree = read(*found, source);
    if (!tree || tree->kind == YamlNode::Kind::null) return;
    if (tree->kind != YamlNode::Kind::map) {
      problems_.add(named.place,
                    fmt::format("'{}' is {} (a map of a grid's keys is wanted)", found->native(), describe(*tree)));
      return;
    }
    lay(base, std::move(*tree));
  }

  /// A file that may be included, or nothing after a problem.
  std::optional<fs::path> find(const PlacedText& named) {
    const auto refuse = [&](const std::string& why) -> std::optional<fs::path> {
      problems_.add(named.place, why);
      return std::nullopt;
    };
    const auto folders = folders_.of(named.place);
    const auto file = folders.find(named.text);
    std::error_code none;
    if (!file) return refuse(fmt::format("no file '{}' to include{}", named.text, folders.looked_in()));
    if (fs::symlink_status(*file, none).type() != fs::file_type::regular)
      return refuse(
          fmt::format("'{}' is no regular file (a link is none); include a grid file itself", file->native()));
    if (files_.size() >= kDeepestInclude)
      return refuse(fmt::format("'{}' is included {} files deep", named.text, kDeepestInclude));
    const auto is_same = [&](const fs::path& other) { return fs::equivalent(*file, other, none); };
    const auto first = std::find_if(files_.begin(), files_.end(), is_same);
    if (first == files_.end()) return file;
    std::string chain;
    for (auto at = first; at != files_.end(); ++at) chain += at->native() + " -> ";
    return refuse(fmt::format("'{}' is included by itself ({}{}); take one out", named.text, chain, file->native()));
  }

  Folders& folders_;
  Problems& problems_;
  std::vector<fs::path> files_;  ///< that are being read, each included by the one before it
};

/// The value of a `--set`, which has a place of its own in messages.
std::optional<YamlNode> set_value(const std::string& text, const std::string& set, Problems& problems) {
  Problems inside("--set");
  auto value = parse_yaml(text, inside);
  if (!inside.empty() || !value) {
    problems.add({}, fmt::format("--set '{}': the value is no YAML", set));
    return std::nullopt;
  }
  move_to(*value, {0, 0, problems.add_source(fmt::format("--set '{}'", set))});
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
    problems.add({}, fmt::format("--set '{}': {} is {} in this grid, which has no keys; set it whole", set, key,
                                 describe(*found)));
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
  const bool takes_out = value->kind == YamlNode::Kind::null;
  if (!replace(*at, std::move(*value)) && takes_out) {
    at->items.pop_back();
    problems.add(
        {}, fmt::format("--set '{}': there is no '{}' to take out{}", set, path, did_you_mean(path, words_in(*at))));
  }
}

}  // namespace

std::optional<YamlNode> read_layers(const fs::path& file, Folders& folders, const std::vector<std::string>& sets,
                                    Problems& problems) {
  auto tree = Layers(folders, problems).read(file, 0);
  if (!tree || tree->kind != YamlNode::Kind::map) return tree;
  for (const auto& set : sets) apply_set(*tree, set, problems);
  return tree;
}

}  // namespace nkigrid::jobs
