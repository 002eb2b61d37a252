#include "jobs/grid/write.hpp"

#include <fmt/core.h>

#include "jobs/grid/flow_map.hpp"
#include "jobs/grid/modes.hpp"

namespace nkigrid::jobs {
namespace {

FlowMap budget_map(const Budget& budget) {
  FlowMap map;
  if (budget.usd) map.number("usd", *budget.usd);
  if (budget.tokens) map.integer("tokens", *budget.tokens);
  if (budget.wall) map.duration("wall", *budget.wall);
  return map;
}

FlowMap model_map(const ModelSpec& model) {
  FlowMap map;
  write_api(model.api, map);
  if (model.temperature) map.number("temperature", *model.temperature);
  if (model.top_p) map.number("top_p", *model.top_p);
  if (model.max_tokens) map.integer("max_tokens", *model.max_tokens);
  map.flag("call_recovery", model.call_recovery).integer("concurrency", model.concurrency);
  map.duration("request_timeout", model.request_timeout).duration("retry_limit", model.retry_limit);
  write_key(model.api, map);
  if (model.price) map.raw("price", price_map(*model.price).str());
  if (model.method) map.text("method", *model.method);
  if (const auto budget = budget_map(model.budget); !budget.empty()) map.raw("budget", budget.str());
  return map;
}

FlowMap mode_map(const ModeSpec& mode, bool frozen) {
  FlowMap map;
  const auto& row = row_of(mode.kind);
  map.text("kind", row.name).integer("turns", mode.turns);
  if (row.takes_feedback) map.text("feedback", mode.feedback_verify ? "verify" : "compile");
  if (row.takes_stop_on_pass) map.flag("stop_on_pass", mode.stop_on_pass);
  if (row.takes_tools) {
    const auto docs = frozen ? "docs/" + mode.name : mode.tools.docs.native();
    map.raw("tools", mode_tools_map(mode.tools, row, docs).str());
  }
  if (!row.nudge.empty()) map.text("nudge", mode.nudge);
  map.raw("context", FlowMap().text("on_full", mode.trim_on_full ? "trim" : "stop").str());
  return map;
}

FlowMap device_map(const DeviceSpec& device) {
  FlowMap map;
  map.text("backend", name_of(device.backend)).text("sdk", device.nki.sdk).text("target", device.nki.target);
  map.flag("strict_paper_names", device.nki.strict_paper_names).text_if("strict", device.nki.strict);
  write_backend(device.backend, map);
  return map;
}

std::string side(const std::map<std::string, std::string>& factors) {
  FlowMap map;
  for (const auto& [dimension, value] : factors) map.text(dimension, value);
  return map.str();
}

/// The format is named only where it is not the default.
std::string benchmark_text(const BenchmarkPlace& place) {
  const BenchmarkPlace usual;
  if (place.format == usual.format) return yaml_scalar(place.folder.native());
  FlowMap map;
  map.text("path", place.folder.native()).text("format", place.format);
  if (place.max_task_bytes != usual.max_task_bytes)
    map.text("max_task_bytes", fmt::format("{} B", place.max_task_bytes));
  return map.str();
}

void write_products(const Grid& grid, bool frozen, std::string& out) {
  // The frozen form spells tasks out once at the top and again only where a cell has others, so that it does
  // not rest on what a subset's name meant; the other form keeps names.
  const auto* common = frozen && !grid.cells.empty() ? &grid.cells.front().tasks : nullptr;
  if (common != nullptr) out += fmt::format("tasks: {}\n", flow_list(*common));
  if (common == nullptr && !grid.tasks.empty()) out += fmt::format("tasks: {}\n", yaml_scalar(grid.tasks));
  out += "cells:\n";
  for (const auto& cell : grid.cells) {
    FlowMap map;
    map.text("model", cell.model).text("mode", cell.mode).text("prompt", cell.prompt);
    if (frozen) {
      if (cell.tasks != *common) map.raw("tasks", flow_list(cell.tasks));
    } else if (cell.subset.empty() || cell.subset != grid.tasks) {
      map.raw("tasks", cell.subset.empty() ? flow_list(cell.tasks) : yaml_scalar(cell.subset));
    }
    map.integer("replicates", cell.replicates);
    if (const auto budget = budget_map(cell.budget); !budget.empty()) map.raw("budget", budget.str());
    out += fmt::format("  - {}\n", map.str());
  }
}

void write_contrasts(const Grid& grid, std::string& out) {
  out += grid.contrasts.empty() ? "contrasts: []\n" : "contrasts:\n";
  for (const auto& contrast : grid.contrasts) {
    FlowMap map;
    map.text("name", contrast.name)
        .raw("a", side(contrast.a))
        .raw("b", side(contrast.b))
        .raw("scope", flow_list(contrast.scope));
    out += fmt::format("  - {}\n", map.str());
  }
  if (grid.factors.empty()) return;
  FlowMap factors;
  for (const auto& [name, dimension] : grid.factors)
    factors.raw(yaml_scalar(name), flow_list(dimension.begin()->second));
  out += fmt::format("factors: {}\n", factors.str());
}

}  // namespace

std::string to_yaml(const Grid& grid, const Resolved* resolved) {
  const bool frozen = resolved != nullptr;
  std::string out;
  out += fmt::format("name: {}\nbenchmark: {}\n", yaml_scalar(grid.name),
                     frozen ? "benchmark" : benchmark_text(grid.benchmark));
  out += fmt::format("replicates: {}\nseed: {}\n", grid.replicates, grid.seed);
  out += fmt::format("device: {}\n", device_map(grid.device).str());
  const auto& check = grid.check;
  out += fmt::format("check: {}\n", FlowMap()
                                        .number("atol", check.atol)
                                        .number("rtol", check.rtol)
                                        .integer("trials", check.trials)
                                        .integer("tool_trials", check.tool_trials)
                                        .duration("compile_timeout", check.compile_timeout)
                                        .duration("run_timeout", check.run_timeout)
                                        .text("sandbox", check.strict_sandbox ? "strict" : "relaxed")
                                        .str());
  out += fmt::format("infra_retries: {}\nlanes: {}\n", grid.infra_retries,
                     grid.lanes == 0 ? "auto" : std::to_string(grid.lanes));
  out += fmt::format("share_transcripts: {}\n", grid.share_transcripts);
  if (const auto budget = budget_map(grid.budget); !budget.empty()) out += fmt::format("budget: {}\n", budget.str());
  out += "models:\n";
  for (const auto& model : grid.models)
    out += fmt::format("  {}: {}\n", yaml_scalar(model.name), model_map(model).str());
  out += "modes:\n";
  for (const auto& mode : grid.modes)
    out += fmt::format("  {}: {}\n", yaml_scalar(mode.name), mode_map(mode, frozen).str());
  out += "prompts:\n";
  for (const auto& prompt : grid.prompts) {
    const auto input = fmt::format("prompts/{}{}", prompt.name, prompt.parts.empty() ? ".md" : "");
    out += fmt::format("  {}: {}\n", yaml_scalar(prompt.name), yaml_scalar(frozen ? input : prompt.file.native()));
  }
  write_products(grid, frozen, out);
  write_contrasts(grid, out);
  FlowMap slurm;
  write_slurm(grid.slurm, slurm);
  out += fmt::format("slurm: {}\n", slurm.str());
  if (frozen) out += to_yaml(*resolved);
  return out;
}

std::string to_yaml(const Grid& grid) { return to_yaml(grid, nullptr); }

}  // namespace nkigrid::jobs
