#include "jobs/keys.hpp"

#include <fmt/core.h>

#include "jobs/base/hash.hpp"
#include "jobs/grid/flow_map.hpp"
#include "jobs/grid/modes.hpp"

namespace nkigrid::jobs {
namespace {

template <class Number>
std::string optional_text(const std::optional<Number>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

}  // namespace

std::vector<KeyField> cell_key_fields(const Grid& grid, const CellSpec& cell) {
  const auto& model = grid.model(cell.model);
  const auto& mode = grid.mode(cell.mode);
  const auto& prompt = grid.prompt(cell.prompt);
  const auto& check = grid.check;
  const auto& device = grid.device;
  const auto of = [](const char* section, const std::string& name, const std::string& field) {
    return fmt::format("{}.{}.{}", section, name, field);
  };
  std::vector<KeyField> fields = {{"key format", "nkigrid-key-1"},
                                  {of("models", model.name, "api"), std::string(name_of(model.api))}};
  for (auto& own : api_key_fields(model.api)) fields.push_back({of("models", model.name, own.name), own.value});
  fields.insert(fields.end(), {{of("models", model.name, "temperature"), optional_text(model.temperature)},
                               {of("models", model.name, "top_p"), optional_text(model.top_p)},
                               {of("models", model.name, "max_tokens"), optional_text(model.max_tokens)},
                               {of("models", model.name, "call_recovery"), flag_text(model.call_recovery)},
                               {of("modes", mode.name, "kind"), std::string(row_of(mode.kind).name)},
                               {of("modes", mode.name, "turns"), std::to_string(mode.turns)},
                               {of("modes", mode.name, "feedback"), mode.feedback_verify ? "verify" : "compile"},
                               {of("modes", mode.name, "stop_on_pass"), flag_text(mode.stop_on_pass)},
                               {of("modes", mode.name, "nudge"), mode.nudge},
                               {of("modes", mode.name, "context.on_full"), mode.trim_on_full ? "trim" : "stop"},
                               {fmt::format("prompts.{}", prompt.name), hash_of(prompt)},
                               {"check.atol", fmt::format("{}", check.atol)},
                               {"check.rtol", fmt::format("{}", check.rtol)},
                               {"check.trials", std::to_string(check.trials)},
                               {"check.tool_trials", std::to_string(check.tool_trials)},
                               {"check.compile_timeout", fmt::format("{}", check.compile_timeout.count())},
                               {"check.run_timeout", fmt::format("{}", check.run_timeout.count())},
                               {"check.sandbox", check.strict_sandbox ? "strict" : "relaxed"},
                               {"device.backend", std::string(name_of(device.backend))},
                               {"device.sdk", device.nki.sdk},
                               {"device.target", device.nki.target},
                               {"device.strict_paper_names", flag_text(device.nki.strict_paper_names)}});
  // Only where they mean something: keys of simulator runs do not depend on what other backends know.
  if (!device.nki.strict.empty()) fields.push_back({"device.strict", device.nki.strict});
  for (auto& own : backend_key_fields(device.backend)) fields.push_back(std::move(own));
  if (mode.tools.diagnostics == Diagnostics::plain)
    fields.push_back({of("modes", mode.name, "tools.diagnostics"), "plain"});
  if (row_of(mode.kind).calls_tools && mode.tools.offer != usual_tools()) {
    std::string offer;
    for (const auto tool : mode.tools.offer) offer += fmt::format("{} ", name_of(tool));
    fields.push_back({of("modes", mode.name, "tools.offer"), offer});
  }
  if (mode.tools.offers(Tool::read_docs))
    fields.push_back({of("modes", mode.name, "tools.docs"), hash_of(mode.tools.pages)});
  return fields;
}

std::vector<KeyField> task_key_fields(const Task& task, const std::string& kernel_hash) {
  return {{fmt::format("task {}", task.id), task.hash}, {fmt::format("known kernel of {}", task.id), kernel_hash}};
}

std::string key_of(const std::vector<KeyField>& cell, const std::vector<KeyField>& task) {
  Sha256 hash;
  for (const auto& field : cell) hash.field(field.value);
  for (const auto& field : task) hash.field(field.value);
  return hash.hex().substr(0, 16);
}

}  // namespace nkigrid::jobs
