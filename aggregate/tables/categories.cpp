#include <nlohmann/json.hpp>

#include "aggregate/tables/cells.hpp"
#include "aggregate/tables/table.hpp"

namespace nkigrid::aggregate {
namespace {

Sheet display_categories(const Evidence& evidence) {
  Sheet sheet{.caption = caption_of(evidence, "pass rate in percent") + ", by category",
              .columns = {{"cell"}, {"category"}, {"tasks", Align::right}}};
  push_rate_columns(sheet, "");
  for (const auto& row : evidence.once(make_cells)) {
    for (const auto& part : row.categories)
      push_rate_words(sheet.rows.emplace_back(Words{row.cell, part.name, std::to_string(part.rate.tasks)}), &part.rate);
  }
  return sheet;
}

Sheet data_categories(const Evidence& evidence) {
  Sheet sheet{.columns = {{"cell"}, {"category"}}};
  const auto columns = rate_columns();
  sheet.columns.insert(sheet.columns.end(), columns.begin(), columns.end());
  for (const auto& row : evidence.once(make_cells)) {
    for (const auto& part : row.categories)
      push_rate_fields(sheet.rows.emplace_back(Words{row.cell, part.name}), part.rate);
  }
  return sheet;
}

nlohmann::ordered_json json_categories(const Evidence& evidence) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& row : evidence.once(make_cells)) {
    for (const auto& part : row.categories) {
      rows.push_back({{"cell", row.cell}, {"category", part.name}});
      rows.back().update(rate_json(part.rate));
    }
  }
  return rows;
}

}  // namespace

Table categories_table() {
  return {.name = "categories", .display = display_categories, .data = data_categories, .json = json_categories};
}

}  // namespace nkigrid::aggregate
