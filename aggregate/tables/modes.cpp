#include <fmt/format.h>

#include <algorithm>

#include "aggregate/evidence/factors.hpp"
#include "aggregate/tables/cells.hpp"
#include "aggregate/tables/table.hpp"

namespace nkigrid::aggregate {
namespace {

/// Models down, modes across: the paper's Table 1. One model, prompt and subset, with its cell of each mode.
struct ModesRow {
  std::string model, prompt, subset;
  std::vector<const CellRow*> cells;  ///< by mode; null: there is none
};

// In order of first appearance.
std::vector<std::string> modes_of(const Evidence& evidence) {
  std::vector<std::string> modes;
  for (const auto& row : evidence.once(make_cells)) {
    if (!row.mode.empty() && std::find(modes.begin(), modes.end(), row.mode) == modes.end()) modes.push_back(row.mode);
  }
  return modes;
}

std::vector<ModesRow> modes_rows(const Evidence& evidence, const std::vector<std::string>& modes) {
  std::vector<ModesRow> rows;
  for (const auto& cell : evidence.once(make_cells)) {
    if (cell.mode.empty()) continue;
    const auto run = run_of(cell.cell);
    const auto model = run.empty() ? cell.model : fmt::format("{}@{}", cell.model, run);
    auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) {
      return row.model == model && row.prompt == cell.prompt && row.subset == cell.subset;
    });
    if (found == rows.end())
      found = rows.insert(rows.end(), {model, cell.prompt, cell.subset, std::vector<const CellRow*>(modes.size())});
    const auto mode = std::find(modes.begin(), modes.end(), cell.mode) - modes.begin();
    found->cells[static_cast<std::size_t>(mode)] = &cell;
  }
  return rows;
}

Sheet display_modes(const Evidence& evidence) {
  const auto modes = modes_of(evidence);
  Sheet sheet{.caption = caption_of(evidence, "pass rate in percent, model by mode"),
              .columns = {{"model"}, {"prompt"}, {"subset"}}};
  for (const auto& mode : modes) push_rate_columns(sheet, mode);
  for (const auto& row : modes_rows(evidence, modes)) {
    Words words{row.model, dash(row.prompt), dash(row.subset)};
    for (const auto* cell : row.cells) push_rate_words(words, cell ? &cell->total : nullptr);
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

Sheet data_modes(const Evidence& evidence) {
  const auto modes = modes_of(evidence);
  Sheet sheet{.columns = data_columns({"model", "prompt", "subset"})};
  for (const auto& mode : modes) {
    for (const std::string field : {"passed", "episodes", "rate", "method", "low", "high"})
      sheet.columns.push_back({mode + "_" + field, Align::right, field == "method" ? Kind::word : Kind::number});
  }
  for (const auto& row : modes_rows(evidence, modes)) {
    Words words{row.model, row.prompt, row.subset};
    for (const auto* cell : row.cells) {
      words.push_back(cell ? std::to_string(cell->total.passed) : "");
      words.push_back(cell ? std::to_string(cell->total.episodes) : "");
      words.push_back(cell ? fraction(cell->total.rate) : "");
      push_interval(words, cell ? cell->total.interval : std::nullopt);
    }
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

}  // namespace

Table modes_table() { return {.name = "modes", .display = display_modes, .data = data_modes, .from = From::both}; }

}  // namespace nkigrid::aggregate
