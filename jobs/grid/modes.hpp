#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/grid/mode_tools.hpp"

namespace nkigrid::jobs {

class Problems;
struct YamlNode;

enum class ModeKind { single_shot, multi_turn, tool_agent };

struct ModeSpec {
  std::string name;
  ModeKind kind = ModeKind::single_shot;
  std::uint32_t turns = 1;
  bool feedback_verify = false;  ///< also verify on `tool`, stop at the first pass
  bool stop_on_pass = true;      ///< of verify_kernel, where the model calls tools
  ModeTools tools;
  std::string nudge;          ///< text sent after a reply without code or call; has a default
  bool trim_on_full = false;  ///< context.on_full: stop (default) | trim
};

/// What a grid may say of modes of one kind, and what holds where it does not. One row a kind, in modes.cpp; what the
/// harness does in such a mode stands in runner/agent/modes.cpp.
struct ModeKindRow {
  ModeKind kind = ModeKind::single_shot;
  std::string_view name;  ///< in the grid file
  std::uint32_t turns = 1, most_turns = 1000;
  bool verifies = false;  ///< default of `feedback`: false: compile
  bool takes_feedback = false, takes_stop_on_pass = false, takes_tools = false;  ///< keys that mean something
  bool calls_tools = false;  ///< the model does: `tools` says which, too
  std::string_view nudge;    ///< default of `nudge`; "": such a mode sends none
};

const std::vector<ModeKindRow>& mode_kinds();
/// @throws Error{internal} for a kind without a row
const ModeKindRow& row_of(ModeKind kind);

std::vector<ModeSpec> read_modes(const YamlNode& node, const Folders& folders, Problems& problems);

}  // namespace nkigrid::jobs
