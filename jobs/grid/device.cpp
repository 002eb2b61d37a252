#include <algorithm>
#include <array>
#include <limits>

#include <fmt/core.h>

#include "jobs/grid/parts.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;
namespace {

// `compiler` in the log is a line of text.
constexpr std::size_t kMaxNameBytes = 100;

/// Keys that one backend alone knows.
struct OwnKey {
  const char* key;
  const char* backend;
};
constexpr std::array<OwnKey, 7> kOwnKeys = {{{"python", "neuron"},
                                             {"libnrt", "neuron"},
                                             {"cores", "neuron"},
                                             {"compiler_flags", "neuron"},
                                             {"name", "command"},
                                             {"compile", "command"},
                                             {"verify", "command"}}};

/// @param backend "" when it is not known: then every key may be right
void refuse_foreign_keys(Fields& fields, const std::string& backend) {
  for (const auto& own : kOwnKeys) {
    const auto* node = fields.find(own.key);
    if (node == nullptr || backend.empty() || backend == own.backend) continue;
    fields.problems().add(node->key_place,
                          fmt::format("{} means nothing for backend {} (it belongs to {}); leave it out",
                                      fields.path_of(own.key), backend, own.backend));
  }
}

/// The words of a list, each place kept. A lone text is refused: `compile: python3 x.py` would be one word.
std::vector<PlacedText> read_words(const YamlNode& node, const std::string& what, std::string_view example,
                                   Problems& problems) {
  if (node.kind == YamlNode::Kind::list) return read_texts(node, what, problems);
  problems.add(node.place,
               fmt::format("{} is {} (a list of words is wanted); write e.g. {}", what, describe(node), example));
  return {};
}

/// `auto` or an absolute path: it is looked up on every node, so it cannot be relative to anything here.
std::string read_path(Fields& fields, std::string_view key) {
  auto path = fields.text(key, "auto");
  if (path != "auto" && !path.starts_with('/')) {
    fields.problems().add(fields.find(key)->place,
                          fmt::format("{} is '{}' (an absolute path, or auto, is wanted)", fields.path_of(key), path));
  }
  return path;
}

std::vector<std::uint32_t> read_cores(Fields& fields) {
  const auto* node = fields.find("cores");
  if (node == nullptr || (node->kind == YamlNode::Kind::scalar && node->text == "auto")) return {};
  const auto what = fields.path_of("cores");
  auto& problems = fields.problems();
  if (node->kind != YamlNode::Kind::list || node->items.empty()) {
    const auto found = node->kind == YamlNode::Kind::list ? std::string("an empty list") : describe(*node);
    problems.add(node->place,
                 fmt::format("{} is {} (auto, or a list of core numbers, is wanted); write e.g. [0, 1]", what, found));
    return {};
  }
  std::vector<std::uint32_t> cores;
  for (const auto& item : node->items) {
    const auto core = read_integer(item, what, 0, std::numeric_limits<std::uint32_t>::max(), problems);
    if (!core) continue;
    if (std::find(cores.begin(), cores.end(), *core) != cores.end()) {
      problems.add(item.place, fmt::format("{} names core {} twice; name each once", what, *core));
    } else {
      cores.push_back(static_cast<std::uint32_t>(*core));
    }
  }
  return cores;
}

std::vector<std::string> read_flags(Fields& fields) {
  const auto* node = fields.find("compiler_flags");
  // No flags is a choice like any other, and what the frozen form writes.
  if (node == nullptr || (node->kind == YamlNode::Kind::list && node->items.empty())) return {};
  std::vector<std::string> flags;
  for (auto& flag : read_words(*node, fields.path_of("compiler_flags"), "[\"-O1\"]", fields.problems())) {
    if (flag.text.empty()) fields.problems().add(flag.place, "device.compiler_flags holds an empty word; leave it out");
    flags.push_back(std::move(flag.text));
  }
  return flags;
}

/// A program of the site's. A word that begins with ./ or ../ is a file beside the grid, and is made absolute: the
/// program starts in a folder of its own. All other words stay as they are.
std::vector<std::string> read_program(Fields& fields, std::string_view key, const Folders& folders) {
  const auto* node = fields.require(key);
  if (node == nullptr) return {};
  auto& problems = fields.problems();
  const auto what = fields.path_of(key);
  std::vector<std::string> argv;
  for (auto& word : read_words(*node, what, "[/usr/bin/python3, ./site_compile.py]", problems)) {
    if (word.text.starts_with("./") || word.text.starts_with("../")) {
      const auto file = fs::absolute(folders.base / word.text).lexically_normal();
      std::error_code ignored;
      if (!fs::exists(file, ignored))
        problems.add(word.place, fmt::format("{} names '{}' (there is no file '{}')", what, word.text, file.native()));
      word.text = file.native();
    }
    argv.push_back(std::move(word.text));
  }
  if (!argv.empty() &&
      (argv.front().empty() || (argv.front().find('/') != std::string::npos && argv.front().front() != '/'))) {
    problems.add(node->items.front().place, fmt::format("{} begins with '{}' (the name of a program on PATH, an "
                                                        "absolute path, or one that begins with ./ is wanted)",
                                                        what, argv.front()));
  }
  return argv;
}

std::string read_compiler_name(Fields& fields) {
  const auto* node = fields.require("name");
  if (node == nullptr) return {};
  auto name = fields.text("name", "-");
  if (name.empty() || name.size() > kMaxNameBytes || name.find_first_of("\n\t") != std::string::npos) {
    fields.problems().add(
        node->place,
        fmt::format("device.name has {} bytes (one line of 1 to {} is wanted: what compiles, and its version)",
                    name.size(), kMaxNameBytes));
  }
  return name;
}

}  // namespace

DeviceSpec read_device(const YamlNode& node, const Folders& folders, Problems& problems) {
  static const std::vector<std::string> kBackends = {"sim", "neuron", "command"};
  static const std::vector<std::string> kTargets = {"trn1"};
  static const std::vector<std::string> kSdks = {"2.23", "2.24", "2.25", "2.26"};  // the era of neuronxcc.nki
  DeviceSpec device;
  Fields fields(node, "device", problems);
  device.backend = fields.choice("backend", device.backend, kBackends);
  const auto* backend = fields.find("backend");
  const bool known = backend == nullptr || backend->text == device.backend;
  device.sdk = fields.choice("sdk", device.sdk, kSdks);
  device.target = fields.choice("target", device.target, kTargets);
  device.strict_paper_names = fields.flag("strict_paper_names", device.strict_paper_names);
  refuse_foreign_keys(fields, known ? device.backend : "");
  if (device.backend == "neuron") {
    device.python = read_path(fields, "python");
    device.libnrt = read_path(fields, "libnrt");
    device.cores = read_cores(fields);
    device.compiler_flags = read_flags(fields);
  }
  if (device.backend == "command") {
    device.name = read_compiler_name(fields);
    device.compile = read_program(fields, "compile", folders);
    device.verify = read_program(fields, "verify", folders);
  }
  fields.finish();
  return device;
}

}  // namespace nkigrid::jobs
