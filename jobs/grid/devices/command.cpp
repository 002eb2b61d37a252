#include "jobs/grid/devices/command.hpp"

#include <filesystem>

#include <fmt/core.h>

#include "jobs/grid/flow_map.hpp"
#include "jobs/grid/folders.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;
namespace {

// `compiler` in the log is a line of text.
constexpr std::size_t kMaxNameBytes = 100;

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

void read_own(Fields& fields, const Folders& folders, CommandSpec& spec) {
  spec.name = read_compiler_name(fields);
  spec.compile = read_program(fields, "compile", folders);
  spec.verify = read_program(fields, "verify", folders);
}

void write_own(const CommandSpec& spec, FlowMap& map) {
  map.text("name", spec.name).raw("compile", flow_list(spec.compile)).raw("verify", flow_list(spec.verify));
}

std::vector<KeyField> own_key_fields(const CommandSpec& spec) { return {{"device.name", spec.name}}; }

}  // namespace nkigrid::jobs
