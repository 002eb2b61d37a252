#include <fmt/format.h>

#include <algorithm>

#include "aggregate/layout/sheets.hpp"

namespace nkigrid::aggregate {

Sheet display_estimates(const Tables& tables) {
  Sheet sheet{
      "estimates",
      fmt::format("{}: estimated time of the kernels that pass, rule {}", tables.run, to_string(tables.rule)),
      {{"cell"}, {"scope"}, {"passed", Align::right}, {"median us", Align::right}, {"to fastest", Align::right}},
      {},
      {"to fastest: each kernel against the fastest passing one of its task in this table; median"}};
  const bool none =
      std::all_of(tables.estimates.begin(), tables.estimates.end(), [](const auto& row) { return row.estimated == 0; });
  const bool passes =
      std::any_of(tables.estimates.begin(), tables.estimates.end(), [](const auto& row) { return row.passed > 0; });
  if (none)
    sheet.notes.push_back(passes ? "the device gave no estimate; the backend sim gives one"
                                 : "no kernel passes, so there is none to estimate");
  for (const auto& row : tables.estimates) {
    sheet.rows.push_back({row.cell, row.scope, std::to_string(row.passed),
                          row.median_us ? fmt::format("{:.1f}", *row.median_us) : "-",
                          row.median_to_fastest ? fmt::format("{:.2f}", *row.median_to_fastest) : "-"});
    if (!none && row.estimated < row.passed && row.scope == "all") {
      sheet.notes.push_back(fmt::format("{}: {} of {} passing kernels have no estimate", row.cell,
                                        row.passed - row.estimated, row.passed));
    }
  }
  return sheet;
}

Sheet data_estimates(const Tables& tables) {
  Sheet sheet{"estimates",
              "",
              data_columns({"cell", "scope", "#passed", "#estimated", "#median_us", "#median_to_fastest"}),
              {},
              {}};
  for (const auto& row : tables.estimates) {
    sheet.rows.push_back({row.cell, row.scope, std::to_string(row.passed), std::to_string(row.estimated),
                          fraction(row.median_us), fraction(row.median_to_fastest)});
  }
  return sheet;
}

}  // namespace nkigrid::aggregate
