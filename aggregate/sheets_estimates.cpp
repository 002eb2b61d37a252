#include <fmt/format.h>

#include "aggregate/sheets.hpp"

namespace nkigrid::aggregate {

Sheet display_estimates(const Tables& tables) {
  Sheet sheet{"estimates",
              fmt::format("{}: estimated time of the kernels that pass, rule {}", tables.run, to_string(tables.rule)),
              {{"cell"}, {"scope"}, {"passed", Align::right}, {"median us", Align::right}, {"to fastest", Align::right}},
              {},
              {"to fastest: each kernel against the fastest passing one of its task in this table; median"}};
  for (const auto& row : tables.estimates) {
    sheet.rows.push_back({row.cell, row.scope, std::to_string(row.passed), row.median_us ? fmt::format("{:.1f}", *row.median_us) : "-",
                          row.median_to_fastest ? fmt::format("{:.2f}", *row.median_to_fastest) : "-"});
    if (row.estimated < row.passed && row.scope == "all") {
      sheet.notes.push_back(fmt::format("{}: {} of {} passing kernels have no estimate", row.cell, row.passed - row.estimated, row.passed));
    }
  }
  return sheet;
}

Sheet data_estimates(const Tables& tables) {
  Sheet sheet{"estimates", "", data_columns({"cell", "scope", "#passed", "#estimated", "#median_us", "#median_to_fastest"}), {}, {}};
  for (const auto& row : tables.estimates) {
    sheet.rows.push_back({row.cell, row.scope, std::to_string(row.passed), std::to_string(row.estimated), fraction(row.median_us),
                          fraction(row.median_to_fastest)});
  }
  return sheet;
}

}  // namespace nkigrid::aggregate
