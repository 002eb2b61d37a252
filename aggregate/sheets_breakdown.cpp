#include <fmt/format.h>

#include <set>

#include "aggregate/sheets.hpp"

namespace nkigrid::aggregate {

Sheet error_sheet(const Tables& tables) {
  Sheet sheet{
      "errors",
      fmt::format("{}: scored episodes by outcome, and by error group of the final check", tables.run),
      {{"cell"}, {"scored", Align::right}},
      {},
      {}};
  std::set<std::string> groups;
  std::vector<std::size_t> outcomes;
  for (const auto& breakdown : tables.breakdowns) {
    for (const auto& [group, count] : breakdown.groups) groups.insert(group);
  }
  for (std::size_t i = 0; i < kOutcomes; ++i) {
    bool seen = false;
    for (const auto& breakdown : tables.breakdowns) seen |= breakdown.outcomes[i] > 0;
    if (!seen) continue;
    outcomes.push_back(i);
    sheet.columns.push_back({std::string(to_string(static_cast<Outcome>(i))), Align::right});
  }
  for (const auto& group : groups) sheet.columns.push_back({group, Align::right});
  for (const auto& breakdown : tables.breakdowns) {
    std::vector<std::string> words{breakdown.cell, std::to_string(breakdown.scored)};
    for (const auto i : outcomes) words.push_back(std::to_string(breakdown.outcomes[i]));
    for (const auto& group : groups) {
      const auto found = breakdown.groups.find(group);
      words.push_back(std::to_string(found == breakdown.groups.end() ? 0 : found->second));
    }
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

Sheet turn_sheet(const Tables& tables) {
  Sheet sheet{"turns",
              fmt::format("{}: episodes that passed within so many turns, rule {}", tables.run,
                          to_string(tables.rule)),
              {{"cell"}, {"scored", Align::right}},
              {},
              {}};
  const std::size_t turns = tables.breakdowns.empty() ? 0 : tables.breakdowns.front().passed_by_turn.size();
  for (std::size_t turn = 1; turn <= turns; ++turn)
    sheet.columns.push_back({std::to_string(turn), Align::right});
  for (const auto& breakdown : tables.breakdowns) {
    std::vector<std::string> words{breakdown.cell, std::to_string(breakdown.scored)};
    for (const auto passed : breakdown.passed_by_turn) words.push_back(std::to_string(passed));
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

}  // namespace nkigrid::aggregate
