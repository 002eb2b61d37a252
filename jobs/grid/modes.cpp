#include "jobs/grid/modes.hpp"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {
namespace {

constexpr std::string_view kNudgeForText =
    "Your reply held no kernel. Reply with the whole Python file in one ```python block.";
constexpr std::string_view kNudgeForTools =
    "Your reply held neither a tool call nor a kernel. Call compile_kernel with the whole Python file, or reply with "
    "it in one ```python block.";

/// The row of a name; nothing for an unknown one, which is reported.
const ModeKindRow* read_kind(Fields& fields) {
  std::vector<std::string> names;
  for (const auto& row : mode_kinds()) names.emplace_back(row.name);
  fields.require("kind");
  const auto name = fields.choice("kind", "", names);
  const auto& rows = mode_kinds();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

/// Reports a key that means nothing for the mode's kind.
void refuse(Fields& fields, std::string_view key, const ModeKindRow& row) {
  if (const auto* node = fields.find(key)) {
    fields.problems().add(node->key_place,
                          fmt::format("{} means nothing for kind {}; leave it out", fields.path_of(key), row.name));
  }
}

void read_keys_of_kind(Fields& fields, const ModeKindRow& row, const Folders& folders, ModeSpec& mode) {
  mode.kind = row.kind;
  mode.turns = row.turns;
  if (row.most_turns > 1)
    mode.turns = fields.integer("turns", row.turns, 1, row.most_turns);
  else if (const auto* node = fields.find("turns"); node != nullptr && node->text != "1")
    fields.problems().add(node->place,
                          fmt::format("{} is {} (an episode of kind {} is one turn); leave it out, or choose a kind "
                                      "with several",
                                      fields.path_of("turns"), describe(*node), row.name));
  mode.feedback_verify = row.verifies;
  static const std::vector<std::string> kFeedback = {"compile", "verify"};
  if (row.takes_feedback)
    mode.feedback_verify = fields.choice("feedback", kFeedback[row.verifies ? 1 : 0], kFeedback) == "verify";
  else
    refuse(fields, "feedback", row);
  if (row.takes_stop_on_pass)
    mode.stop_on_pass = fields.flag("stop_on_pass", true);
  else
    refuse(fields, "stop_on_pass", row);
  if (row.calls_tools) mode.tools.offer = usual_tools();
  if (!row.takes_tools)
    refuse(fields, "tools", row);
  else if (const auto* tools = fields.find("tools"))
    mode.tools = read_mode_tools(*tools, fields.path_of("tools"), row, folders, fields.problems());
  if (!row.nudge.empty())
    mode.nudge = fields.text("nudge", std::string(row.nudge));
  else
    refuse(fields, "nudge", row);
}

/// Of a mode whose kind is unknown nothing else can be judged: one mistake, one problem.
void accept_any(Fields& fields, ModeSpec& mode) {
  mode.turns = fields.integer("turns", mode.turns, 1, 1000);
  for (const auto* key : {"feedback", "stop_on_pass", "tools", "nudge"}) fields.find(key);
}

void read_context(Fields& fields, ModeSpec& mode) {
  const auto* context = fields.find("context");
  if (context == nullptr) return;
  Fields inner(*context, fields.path_of("context"), fields.problems());
  static const std::vector<std::string> kOnFull = {"stop", "trim"};
  mode.trim_on_full = inner.choice("on_full", "stop", kOnFull) == "trim";
  inner.finish();
}

ModeSpec read_mode(const YamlNode& node, const Folders& folders, Problems& problems) {
  ModeSpec mode;
  mode.name = node.key;
  Fields fields(node, fmt::format("modes.{}", node.key), problems);
  if (const auto* row = read_kind(fields))
    read_keys_of_kind(fields, *row, folders, mode);
  else
    accept_any(fields, mode);
  read_context(fields, mode);
  fields.finish();
  return mode;
}

}  // namespace

const std::vector<ModeKindRow>& mode_kinds() {
  using enum ModeKind;
  static const std::vector<ModeKindRow> kRows = {
      {.kind = single_shot, .name = "single-shot", .turns = 1, .most_turns = 1},
      {.kind = multi_turn,
       .name = "multi-turn",
       .turns = 5,
       .takes_feedback = true,
       .takes_tools = true,
       .nudge = kNudgeForText},
      {.kind = tool_agent,
       .name = "tool-agent",
       .turns = 10,
       .takes_stop_on_pass = true,
       .takes_tools = true,
       .calls_tools = true,
       .nudge = kNudgeForTools},
  };
  return kRows;
}

const ModeKindRow& row_of(ModeKind kind) {
  const auto& rows = mode_kinds();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.kind == kind; });
  if (found == rows.end()) throw Error(ErrorCode::internal, "a kind of mode has no row");
  return *found;
}

std::vector<ModeSpec> read_modes(const YamlNode& node, const Folders& folders, Problems& problems) {
  std::vector<ModeSpec> modes;
  for (const auto& item : node.items) modes.push_back(read_mode(item, folders, problems));
  return modes;
}

}  // namespace nkigrid::jobs
