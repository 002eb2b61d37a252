#include "aggregate/tables/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "aggregate/tables/json_values.hpp"
#include "aggregate/tables/table.hpp"

namespace nkigrid::aggregate {
namespace {

CellRow cell_of_run(const Evidence& evidence, const CellScores& scores) {
  const auto& spec = evidence.cell(scores);
  const auto& options = evidence.options;
  CellRow row{spec.id,
              spec.model,
              spec.mode,
              spec.prompt,
              options.subset.value_or(spec.subset),
              make_rate(scores.tasks, options)};
  std::map<std::uint32_t, std::vector<TaskScore>> levels;
  std::map<std::string, std::vector<TaskScore>> categories;
  for (const auto& task : scores.tasks) {
    levels[task.stratum].push_back(task);
    categories[evidence.run->plan.tasks[task.task].category].push_back(task);
  }
  for (const auto& [level, part] : levels) row.levels.push_back({evidence.levels[level], make_rate(part, options)});
  for (const auto& [category, part] : categories) row.categories.push_back({category, make_rate(part, options)});
  return row;
}

CellRow cell_of_counts(const PrintedCell& cell, double confidence) {
  CellRow row{cell.cell, cell.model, cell.mode, cell.prompt, cell.subset, make_rate(cell.passed, cell.n, confidence)};
  row.printed = cell.printed;
  row.printed_fits = cell.printed.empty() || printed_fits(cell.printed, 100 * *row.total.rate);
  for (const auto& [name, level] : cell.levels)
    row.levels.push_back({name, make_rate(level.passed, level.n, confidence)});
  return row;
}

bool has_run_to_run(const std::vector<CellRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.total.run_to_run.has_value(); });
}

Words cell_words(const Evidence& evidence, const CellRow& row, bool run_to_run) {
  const auto& rate = row.total;
  Words words{row.cell,
              dash(row.subset),
              std::to_string(rate.tasks),
              std::to_string(rate.replicates),
              fmt::format("{}/{}", rate.passed, rate.episodes),
              rate_word(rate),
              interval_word(rate.interval)};
  if (run_to_run) words.push_back(range_word(rate.run_to_run));
  if (evidence.outstanding > 0) words.insert(words.end(), {std::to_string(rate.outstanding), range_word(rate.bounds)});
  if (evidence.from_counts()) words.push_back(dash(row.printed) + (row.printed_fits ? "" : " (!)"));
  return words;
}

Sheet display_cells(const Evidence& evidence) {
  const auto& rows = evidence.once(make_cells);
  const bool run_to_run = has_run_to_run(rows);
  Sheet sheet{.caption = caption_of(evidence, "pass rate in percent"),
              .columns = {{"cell"},
                          {"subset"},
                          {"tasks", Align::right},
                          {"K", Align::right},
                          {"passed", Align::right},
                          {"rate", Align::right},
                          {"interval"}}};
  if (run_to_run) sheet.columns.push_back({"of these tasks"});
  if (evidence.outstanding > 0) sheet.columns.insert(sheet.columns.end(), {{"outstanding", Align::right}, {"bounds"}});
  if (evidence.from_counts()) sheet.columns.push_back({"printed", Align::right});
  for (const auto& row : rows) sheet.rows.push_back(cell_words(evidence, row, run_to_run));
  if (run_to_run) {
    sheet.notes.push_back(
        "interval: the true rate over all tasks of this kind; of these tasks: the true rate of these very tasks, "
        "which endless replicates would come to. Another run's rate scatters more: a range for it is 1.4 times as "
        "wide");
  }
  return sheet;
}

Sheet data_cells(const Evidence& evidence) {
  Sheet sheet{.columns = {{"cell"}, {"model"}, {"mode"}, {"prompt"}, {"subset"}}};
  const auto columns = rate_columns();
  sheet.columns.insert(sheet.columns.end(), columns.begin(), columns.end());
  for (const auto& row : evidence.once(make_cells)) {
    Words words{row.cell, row.model, row.mode, row.prompt, row.subset};
    push_rate_fields(words, row.total);
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

nlohmann::ordered_json cell_json(const CellRow& row, bool from_counts) {
  using Json = nlohmann::ordered_json;
  const auto& rate = row.total;
  Json levels = Json::object();
  for (const auto& part : row.levels) levels[part.name] = rate_json(part.rate);
  Json json{{"cell", row.cell},
            {"model", row.model},
            {"mode", row.mode},
            {"prompt", row.prompt},
            {"subset", text_json(row.subset)},
            {"tasks", rate.tasks},
            {"replicates", rate.replicates}};
  json.update(rate_json(rate));
  json["run_to_run"] = range_json(rate.run_to_run);
  json["levels"] = std::move(levels);
  if (from_counts) json.update({{"printed", text_json(row.printed)}, {"printed_fits", row.printed_fits}});
  return json;
}

nlohmann::ordered_json json_cells(const Evidence& evidence) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& row : evidence.once(make_cells)) rows.push_back(cell_json(row, evidence.from_counts()));
  return rows;
}

}  // namespace

std::vector<CellRow> make_cells(const Evidence& evidence) {
  std::vector<CellRow> rows;
  for (const auto& scores : evidence.scores) rows.push_back(cell_of_run(evidence, scores));
  if (!evidence.from_counts()) return rows;
  for (const auto& cell : evidence.counts->cells) rows.push_back(cell_of_counts(cell, evidence.options.confidence));
  return rows;
}

Table cells_table() {
  return {.name = "cells",
          .display = display_cells,
          .data = data_cells,
          .from = From::both,
          .by_default = true,
          .in_document = InDocument::leading,
          .json = json_cells};
}

}  // namespace nkigrid::aggregate
