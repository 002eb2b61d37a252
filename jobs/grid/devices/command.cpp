#include "jobs/grid/devices/command.hpp"

#include <fmt/core.h>

#include "jobs/grid/flow_map.hpp"
#include "jobs/grid/program.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {
namespace {

// `compiler` in the log is a line of text.
constexpr std::size_t kMaxNameBytes = 100;

std::vector<std::string> read_step(Fields& fields, std::string_view key, const Folders& folders) {
  const auto* node = fields.require(key);
  if (node == nullptr) return {};
  return read_program(*node, fields.path_of(key), "[/usr/bin/python3, ./site_compile.py]", folders, fields.problems());
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
  spec.compile = read_step(fields, "compile", folders);
  spec.verify = read_step(fields, "verify", folders);
}

void write_own(const CommandSpec& spec, FlowMap& map) {
  map.text("name", spec.name).raw("compile", flow_list(spec.compile)).raw("verify", flow_list(spec.verify));
}

std::vector<KeyField> own_key_fields(const CommandSpec& spec) { return {{"device.name", spec.name}}; }

}  // namespace nkigrid::jobs
