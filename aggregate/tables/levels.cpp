#include <algorithm>

#include "aggregate/tables/cells.hpp"
#include "aggregate/tables/table.hpp"

namespace nkigrid::aggregate {
namespace {

Sheet display_levels(const Evidence& evidence) {
  Sheet sheet{.caption = caption_of(evidence, "pass rate in percent") + ", by level", .columns = {{"cell"}}};
  for (const auto& level : evidence.levels) push_rate_columns(sheet, level);
  for (const auto& row : evidence.once(make_cells)) {
    if (row.levels.empty()) continue;  // counts may lack them
    Words words{row.cell};
    for (const auto& level : evidence.levels) {
      const auto part =
          std::find_if(row.levels.begin(), row.levels.end(), [&](const auto& other) { return other.name == level; });
      push_rate_words(words, part == row.levels.end() ? nullptr : &part->rate);
    }
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

Sheet data_levels(const Evidence& evidence) {
  Sheet sheet{.columns = {{"cell"}, {"level"}}};
  const auto columns = rate_columns();
  sheet.columns.insert(sheet.columns.end(), columns.begin(), columns.end());
  for (const auto& row : evidence.once(make_cells)) {
    for (const auto& part : row.levels)
      push_rate_fields(sheet.rows.emplace_back(Words{row.cell, part.name}), part.rate);
  }
  return sheet;
}

std::string why_no_levels(const Evidence& evidence) {
  return evidence.from_counts()
             ? "no cell is counted by level; add e.g. `levels: {L1: [passed, n]}` to cells of the counts file"
             : nothing_counted(evidence);
}

}  // namespace

Table levels_table() {
  return {.name = "levels",
          .display = display_levels,
          .data = data_levels,
          .why_empty = why_no_levels,
          .from = From::both,
          .by_default = true,
          .in_document = InDocument::nowhere};
}

}  // namespace nkigrid::aggregate
