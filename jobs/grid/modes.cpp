#include "jobs/grid/modes.hpp"

#include <array>

#include <fmt/core.h>

namespace nkigrid::jobs {
namespace {

const std::vector<std::string> kModeKinds = {"single-shot", "multi-turn", "tool-agent"};

/// Reports a key that means nothing for the mode's kind. An unknown kind refuses nothing: one mistake, one problem.
void refuse(Fields& fields, std::string_view key, ModeKind kind, bool known) {
  if (const auto* node = fields.find(key); node != nullptr && known) {
    fields.problems().add(node->key_place, fmt::format("{} means nothing for kind {}; leave it out",
                                                       fields.path_of(key), to_string(kind)));
  }
}

void read_turns(Fields& fields, ModeSpec& mode, bool known) {
  static constexpr std::array<std::uint32_t, 3> kTurns = {1, 5, 10};
  mode.turns = kTurns[static_cast<std::size_t>(mode.kind)];
  const std::uint32_t most = known && mode.kind == ModeKind::single_shot ? 1 : 1000;
  mode.turns = fields.integer("turns", mode.turns, 1, most);
}

ModeSpec read_mode(const YamlNode& node, Problems& problems) {
  ModeSpec mode;
  mode.name = node.key;
  Fields fields(node, fmt::format("modes.{}", node.key), problems);
  fields.require("kind");
  const auto kind = fields.choice("kind", "", kModeKinds);
  for (std::size_t i = 0; i < kModeKinds.size(); ++i) {
    if (kModeKinds[i] == kind) mode.kind = static_cast<ModeKind>(i);
  }
  const bool known = !kind.empty();
  read_turns(fields, mode, known);
  static const std::vector<std::string> kFeedback = {"compile", "verify"};
  if (mode.kind == ModeKind::multi_turn) {
    mode.feedback_verify = fields.choice("feedback", "compile", kFeedback) == "verify";
  } else {
    refuse(fields, "feedback", mode.kind, known);
  }
  if (mode.kind == ModeKind::tool_agent) {
    mode.stop_on_pass = fields.flag("stop_on_pass", true);
  } else {
    refuse(fields, "stop_on_pass", mode.kind, known);
  }
  if (mode.kind == ModeKind::single_shot) {
    refuse(fields, "nudge", mode.kind, known);
  } else {
    mode.nudge = fields.text("nudge", default_nudge(mode.kind));
  }
  if (const auto* context = fields.find("context")) {
    Fields inner(*context, fields.path_of("context"), problems);
    static const std::vector<std::string> kOnFull = {"stop", "trim"};
    mode.trim_on_full = inner.choice("on_full", "stop", kOnFull) == "trim";
    if (mode.trim_on_full)
      problems.add(inner.find("on_full")->place,
                   fmt::format("{} is not in this version; use stop", inner.path_of("on_full")));
    inner.finish();
  }
  fields.finish();
  return mode;
}

}  // namespace

std::string_view to_string(ModeKind kind) noexcept { return kModeKinds[static_cast<std::size_t>(kind)]; }

std::string default_nudge(ModeKind kind) {
  if (kind == ModeKind::tool_agent) {
    return "Your reply held neither a tool call nor a kernel. Call compile_kernel with the whole Python "
           "file, or reply with it in one "
           "```python block.";
  }
  return "Your reply held no kernel. Reply with the whole Python file in one ```python block.";
}

std::vector<ModeSpec> read_modes(const YamlNode& node, Problems& problems) {
  std::vector<ModeSpec> modes;
  for (const auto& item : node.items) modes.push_back(read_mode(item, problems));
  return modes;
}

}  // namespace nkigrid::jobs
