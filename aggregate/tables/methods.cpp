#include "aggregate/tables/methods.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "aggregate/evidence/factors.hpp"
#include "aggregate/statistics/drawn.hpp"
#include "aggregate/tables/table.hpp"
#include "aggregate/tables/words.hpp"

namespace nkigrid::aggregate {
namespace {

std::string method_of(const jobs::Grid& grid, const std::string& model) {
  for (const auto& spec : grid.models) {
    if (spec.name == model) return spec.method.value_or(model);
  }
  return model;
}

bool has_methods(const jobs::Grid& grid) {
  return std::any_of(grid.models.begin(), grid.models.end(),
                     [](const auto& model) { return model.method.has_value(); });
}

MethodRow method_row(const Evidence& evidence, const Method& method) {
  const auto shared = share_tasks(method.cells);
  MethodRow row{method.name, method.spec->mode, method.spec->prompt, {}, shared.tasks, shared.outstanding};
  for (const auto* cell : method.cells) row.cells.push_back(evidence.cell(*cell).id);
  if (!is_ready(shared, evidence.options.partial)) return row;
  const auto mean =
      checkpoint_mean(checkpoint_scores(shared.counts), strata_of(shared.counts[0]), evidence.options.confidence);
  row.rate = mean.mean;
  row.between_checkpoints = mean.between_checkpoints;
  row.interval = mean.interval;
  return row;
}

Sheet display_methods(const Evidence& evidence) {
  Sheet sheet{.caption = caption_of(evidence, "mean pass rate of a method's checkpoints in percent"),
              .columns = {{"method"},
                          {"mode"},
                          {"prompt"},
                          {"checkpoints", Align::right},
                          {"tasks", Align::right},
                          {"rate", Align::right},
                          {"interval"},
                          {"sd between checkpoints", Align::right}},
              .notes = {"interval: other checkpoints of the method and other tasks of this kind; none for one "
                        "checkpoint, which says nothing about another"}};
  for (const auto& row : evidence.once(make_methods)) {
    sheet.rows.push_back({row.method, row.mode, row.prompt, std::to_string(row.cells.size()), std::to_string(row.tasks),
                          row.rate ? percent(*row.rate) : fmt::format("{} outstanding", row.outstanding),
                          interval_word(row.interval),
                          row.between_checkpoints ? percent(*row.between_checkpoints) : "-"});
  }
  return sheet;
}

Sheet data_methods(const Evidence& evidence) {
  Sheet sheet{.columns =
                  data_columns({"method", "mode", "prompt", "cells", "#checkpoints", "#tasks", "#outstanding", "#rate",
                                "interval_method", "#interval_low", "#interval_high", "#between_checkpoints"})};
  for (const auto& row : evidence.once(make_methods)) {
    Words words{row.method,
                row.mode,
                row.prompt,
                fmt::format("{}", fmt::join(row.cells, " ")),
                std::to_string(row.cells.size()),
                std::to_string(row.tasks),
                std::to_string(row.outstanding),
                fraction(row.rate)};
    push_interval(words, row.interval);
    words.push_back(fraction(row.between_checkpoints));
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

std::string why_no_methods(const Evidence&) { return kNoMethods; }

}  // namespace

std::vector<Method> methods_of(const Evidence& evidence) {
  std::vector<Method> methods;
  if (!has_methods(evidence.run->grid)) return methods;
  for (const auto& cell : evidence.scores) {
    const auto& spec = evidence.cell(cell);
    const auto name = method_of(evidence.run->grid, spec.model), context = context_of(spec, "model");
    auto found = std::find_if(methods.begin(), methods.end(),
                              [&](const auto& method) { return method.name == name && method.context == context; });
    if (found == methods.end()) found = methods.insert(methods.end(), {name, context, &spec, {}});
    found->cells.push_back(&cell);
  }
  return methods;
}

CheckpointScores checkpoint_scores(std::span<const std::vector<TaskCount>> cells) {
  CheckpointScores scores;
  for (const auto& tasks : cells) {
    auto& own = scores.emplace_back();
    for (const auto& task : tasks) own.push_back(static_cast<double>(task.passed) / task.replicates);
  }
  return scores;
}

std::vector<MethodRow> make_methods(const Evidence& evidence) {
  std::vector<MethodRow> rows;
  for (const auto& method : methods_of(evidence)) rows.push_back(method_row(evidence, method));
  return rows;
}

Table methods_table() {
  return {.name = "methods", .display = display_methods, .data = data_methods, .why_empty = why_no_methods};
}

}  // namespace nkigrid::aggregate
