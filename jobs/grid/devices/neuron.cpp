#include "jobs/grid/devices/neuron.hpp"

#include <algorithm>
#include <limits>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/grid/flow_map.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {
namespace {

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

}  // namespace

void read_own(Fields& fields, const Folders&, NeuronSpec& spec) {
  spec.python = read_path(fields, "python");
  spec.libnrt = read_path(fields, "libnrt");
  spec.cores = read_cores(fields);
  spec.compiler_flags = read_flags(fields);
}

void write_own(const NeuronSpec& spec, FlowMap& map) {
  map.text("python", spec.python).text("libnrt", spec.libnrt);
  map.raw("cores", spec.cores.empty() ? "auto" : fmt::format("[{}]", fmt::join(spec.cores, ", ")));
  map.raw("compiler_flags", flow_list(spec.compiler_flags));
}

std::vector<KeyField> own_key_fields(const NeuronSpec& spec) {
  return {{"device.compiler_flags", flow_list(spec.compiler_flags)}};
}

}  // namespace nkigrid::jobs
