#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/grid/key_field.hpp"

namespace nkigrid::jobs {

class Fields;
class FlowMap;
struct Folders;

/// A site's own compile and verify programs (docs/formats/command_protocol.md).
struct CommandSpec {
  static constexpr std::string_view kName = "command";
  static constexpr std::array<std::string_view, 3> kKeys = {"name", "compile", "verify"};

  std::string name;                  ///< what compiles and its version; stands as `compiler` in the log
  std::vector<std::string> compile;  ///< argv, run once a compile
  std::vector<std::string> verify;   ///< argv, run once a session
};

void read_own(Fields& fields, const Folders& folders, CommandSpec& spec);
void write_own(const CommandSpec& spec, FlowMap& map);
std::vector<KeyField> own_key_fields(const CommandSpec& spec);

}  // namespace nkigrid::jobs
