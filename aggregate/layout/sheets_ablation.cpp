#include <fmt/format.h>

#include <algorithm>

#include "aggregate/layout/sheets.hpp"

namespace nkigrid::aggregate {
namespace {

// The values of one field over all cells, in order of first appearance.
std::vector<std::string> values_of(const Tables& tables, std::string CellRow::*field) {
  std::vector<std::string> values;
  for (const auto& row : tables.cells) {
    if (!(row.*field).empty() && std::find(values.begin(), values.end(), row.*field) == values.end())
      values.push_back(row.*field);
  }
  return values;
}

/// A row of the table of modes: one model, prompt and subset, with its cell of each mode.
struct ModesRow {
  std::string model, prompt, subset;
  std::vector<const CellRow*> cells;
};

std::vector<ModesRow> modes_rows(const Tables& tables, const std::vector<std::string>& modes) {
  std::vector<ModesRow> rows;
  for (const auto& cell : tables.cells) {
    if (cell.mode.empty()) continue;
    const auto origin = origin_of(cell.cell);
    const auto model = origin.empty() ? cell.model : fmt::format("{}@{}", cell.model, origin);
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

std::string dash(const std::string& word) { return word.empty() ? "-" : word; }

}  // namespace

Sheet display_modes(const Tables& tables) {
  const auto modes = values_of(tables, &CellRow::mode);
  Sheet sheet{
      "modes", caption_of(tables, "pass rate in percent, model by mode"), {{"model"}, {"prompt"}, {"subset"}}, {}, {}};
  for (const auto& mode : modes) push_rate_columns(sheet, mode);
  for (const auto& row : modes_rows(tables, modes)) {
    std::vector<std::string> words{row.model, dash(row.prompt), dash(row.subset)};
    for (const auto* cell : row.cells) push_rate_words(words, cell ? &cell->total : nullptr);
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

Sheet data_modes(const Tables& tables) {
  const auto modes = values_of(tables, &CellRow::mode);
  Sheet sheet{"modes", "", data_columns({"model", "prompt", "subset"}), {}, {}};
  for (const auto& mode : modes) {
    for (const std::string field : {"passed", "episodes", "rate", "method", "low", "high"})
      sheet.columns.push_back({mode + "_" + field, Align::right, field == "method" ? Kind::word : Kind::number});
  }
  for (const auto& row : modes_rows(tables, modes)) {
    std::vector<std::string> words{row.model, row.prompt, row.subset};
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

Sheet display_ablation(const Tables& tables) {
  Sheet sheet{"ablation",
              caption_of(tables, tables.from_counts
                                     ? "what one factor changes, the others held as far as the counts name them "
                                       "(prompts are unknown); rates in percent, changes in points"
                                     : "what one factor changes, the others held; rates in percent, changes in points"),
              {{"factor"},
               {"value"},
               {"others"},
               {"subset"},
               {"tasks", Align::right},
               {"rate", Align::right},
               {"interval"},
               {"change", Align::right},
               {"interval of change"},
               {"relative", Align::right},
               {"interval of relative, %"}},
              {},
              {}};
  bool few = false;
  for (const auto& row : tables.ablation) {
    const bool baseline = row.value == row.baseline;
    std::vector<std::string> words{row.factor,
                                   row.value,
                                   row.context,
                                   dash(row.subset),
                                   std::to_string(row.tasks),
                                   row.rate ? percent(*row.rate) : "-",
                                   interval_word(row.rate_interval)};
    if (row.outstanding > 0 && !row.difference && !row.rate)
      words.back() = fmt::format("{} outstanding", row.outstanding);
    words.push_back(baseline ? "baseline" : points(row.difference));
    words.push_back(baseline ? "-" : interval_word(row.interval));
    words.push_back(row.relative ? fmt::format("{:+.0f} %", 100 * rounded(*row.relative) + 0.0) : "-");
    words.push_back(row.relative_reason.empty() ? interval_word(row.relative_interval)
                                                : fmt::format("none: {}", row.relative_reason));
    few |= row.relative_reason.starts_with("few");
    sheet.rows.push_back(std::move(words));
  }
  sheet.notes.push_back(
      tables.from_counts
          ? "changes are between cells of one task set; which tasks passed is unknown, so they are unpaired"
          : "changes are paired on the tasks that the compared cells share; not adjusted for their number");
  sheet.notes.push_back(
      tables.from_counts
          ? "relative: change by the baseline's rate; mover-r: from the Wilson intervals of both rates"
          : "relative: change by the baseline's rate; bca-drawn: 9999 resamples of the shared tasks within levels");
  if (few) sheet.notes.push_back("few: at most five tasks, of which a resample may hold none");
  return sheet;
}

Sheet data_ablation(const Tables& tables) {
  Sheet sheet{"ablation",
              "",
              data_columns({"factor",         "value",      "baseline",        "context",         "cell",
                            "subset",         "#tasks",     "#outstanding",    "#rate",           "rate_method",
                            "#rate_low",      "#rate_high", "#difference",     "interval_method", "#interval_low",
                            "#interval_high", "#relative",  "relative_method", "#relative_low",   "#relative_high",
                            "relative_reason"}),
              {},
              {}};
  for (const auto& row : tables.ablation) {
    std::vector<std::string> words{row.factor,
                                   row.value,
                                   row.baseline,
                                   row.context,
                                   row.cell,
                                   row.subset,
                                   std::to_string(row.tasks),
                                   std::to_string(row.outstanding),
                                   fraction(row.rate)};
    push_interval(words, row.rate_interval);
    words.push_back(fraction(row.difference));
    push_interval(words, row.interval);
    words.push_back(fraction(row.relative));
    push_interval(words, row.relative_interval);
    words.push_back(row.relative_reason);
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

Sheet display_interactions(const Tables& tables) {
  Sheet sheet{"interactions",
              caption_of(tables, "do two factors help each other? (p11 - p10) - (p01 - p00) in points"),
              {{"first"},
               {"second"},
               {tables.from_counts ? "subset" : "others"},
               {"tasks", Align::right},
               {"p00 p01 p10 p11"},
               {"interaction", Align::right},
               {"interval"},
               {"p", Align::right},
               {tables.adjust == Adjust::bh ? "p BH" : "p Holm", Align::right},
               {"verdict"}},
              {},
              {}};
  const auto rate_of = [&](const std::string& name, const InteractionRow& row) -> std::string {
    for (const auto& cell : tables.cells) {
      if (cell.cell == name && (!tables.from_counts || cell.subset == row.context))
        return cell.total.rate ? percent(*cell.total.rate) : "-";
    }
    return "-";
  };
  for (const auto& row : tables.interactions) {
    std::string rates;
    for (const auto& cell : row.cells) rates += (rates.empty() ? "" : " ") + rate_of(cell, row);
    sheet.rows.push_back({row.first, row.second, dash(row.context), std::to_string(row.tasks), rates,
                          points(row.difference), interval_word(row.interval), p_word(row.p),
                          p_word(row.p_bh ? row.p_bh : row.p_holm),
                          row.verdict.empty() ? fmt::format("{} outstanding", row.outstanding) : row.verdict});
  }
  sheet.notes.push_back(
      "p00, p01, p10, p11: pass rates in percent; the first digit says whether the first factor is changed, the second "
      "digit the second");
  sheet.notes.push_back(tables.from_counts
                            ? "from counts: unpaired, by the interval alone"
                            : fmt::format("sign-flip test over tasks; adjusted p: over the {} row{} of this table",
                                          tables.interactions.size(), tables.interactions.size() == 1 ? "" : "s"));
  return sheet;
}

Sheet data_interactions(const Tables& tables) {
  Sheet sheet{
      "interactions",
      "",
      data_columns({"first", "second", "context", "p00", "p01", "p10", "p11", "#tasks", "#outstanding", "#difference",
                    "interval_method", "#interval_low", "#interval_high", "test", "#p", "#p_holm", "#p_bh", "verdict"}),
      {},
      {}};
  for (const auto& row : tables.interactions) {
    std::vector<std::string> words{row.first,
                                   row.second,
                                   row.context,
                                   row.cells[0],
                                   row.cells[1],
                                   row.cells[2],
                                   row.cells[3],
                                   std::to_string(row.tasks),
                                   std::to_string(row.outstanding),
                                   fraction(row.difference)};
    push_interval(words, row.interval);
    for (const auto& word : {row.test, p_field(row.p), p_field(row.p_holm), p_field(row.p_bh), row.verdict})
      words.push_back(word);
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

}  // namespace nkigrid::aggregate
