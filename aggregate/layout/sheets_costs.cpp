#include <fmt/format.h>

#include <algorithm>

#include "aggregate/layout/sheets.hpp"

namespace nkigrid::aggregate {
namespace {

std::string money(const std::optional<double>& usd) { return usd ? fmt::format("{:.4g}", *usd) : "-"; }

std::string count(const std::optional<double>& value) { return value ? fmt::format("{:.0f}", *value) : "-"; }

std::string ends(const std::optional<Interval>& interval, int digits) {
  return interval ? fmt::format("[{:.{}g}, {:.{}g}]", interval->low, digits, interval->high, digits) : "-";
}

}  // namespace

Sheet display_cost(const Tables& tables) {
  Sheet sheet{"cost",
              caption_of(tables, "what a pass costs"),
              {{"cell"},
               {"passed", Align::right},
               {"tokens in", Align::right},
               {"tokens out", Align::right},
               {"USD", Align::right},
               {"USD/pass", Align::right},
               {"interval"},
               {"tokens/pass", Align::right},
               {"interval"},
               {"tokens/s", Align::right},
               {"relative", Align::right},
               {"in"},
               {"interval"},
               {"tokens lost", Align::right}},
              {},
              {fmt::format("relative: cost of a pass against {}, on the tasks that both have; in USD, or in "
                           "tokens where one has no price",
                           tables.baseline),
               "intervals: bca-drawn, tasks resampled; tokens/s: output tokens by the time of requests; "
               "tokens lost: of attempts that do not count; no interval: at most five tasks pass"}};
  if (std::none_of(tables.costs.begin(), tables.costs.end(), [](const auto& row) { return row.usd; }))
    sheet.notes.push_back("no USD: no model of the grid has a `price`, or no reply counted its tokens");
  for (const auto& row : tables.costs) {
    sheet.rows.push_back({row.cell, fmt::format("{}/{}", row.passed, row.scored), std::to_string(row.tokens_in),
                          std::to_string(row.tokens_out), money(row.usd), money(row.usd_per_pass),
                          ends(row.usd_per_pass_interval, 4), count(row.tokens_per_pass),
                          ends(row.tokens_per_pass_interval, 5),
                          row.tokens_per_s ? fmt::format("{:.1f}", *row.tokens_per_s) : "-",
                          row.relative ? fmt::format("{:.3g}", *row.relative) : "-",
                          row.relative_unit.empty()    ? "-"
                          : row.relative_unit == "usd" ? "USD"
                                                       : "tokens",
                          ends(row.relative_interval, 3), std::to_string(row.uncounted_tokens)});
  }
  return sheet;
}

Sheet data_cost(const Tables& tables) {
  Sheet sheet{"cost",
              "",
              data_columns({"cell",
                            "#scored",
                            "#passed",
                            "#tokens_in",
                            "#tokens_out",
                            "#usd",
                            "#llm_s",
                            "#uncounted_tokens",
                            "#uncounted_usd",
                            "#usd_per_pass",
                            "usd_per_pass_method",
                            "#usd_per_pass_low",
                            "#usd_per_pass_high",
                            "#tokens_per_pass",
                            "tokens_per_pass_method",
                            "#tokens_per_pass_low",
                            "#tokens_per_pass_high",
                            "#tokens_per_s",
                            "relative_to",
                            "#relative",
                            "relative_method",
                            "#relative_low",
                            "#relative_high",
                            "relative_unit"}),
              {},
              {}};
  for (const auto& row : tables.costs) {
    std::vector<std::string> words{row.cell,
                                   std::to_string(row.scored),
                                   std::to_string(row.passed),
                                   std::to_string(row.tokens_in),
                                   std::to_string(row.tokens_out),
                                   fraction(row.usd),
                                   fraction(row.llm_s),
                                   std::to_string(row.uncounted_tokens),
                                   fraction(row.uncounted_usd),
                                   fraction(row.usd_per_pass)};
    push_interval(words, row.usd_per_pass_interval);
    words.push_back(fraction(row.tokens_per_pass));
    push_interval(words, row.tokens_per_pass_interval);
    words.push_back(fraction(row.tokens_per_s));
    words.push_back(tables.baseline);
    words.push_back(fraction(row.relative));
    push_interval(words, row.relative_interval);
    words.push_back(row.relative_unit);
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

}  // namespace nkigrid::aggregate
