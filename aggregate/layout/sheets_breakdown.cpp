#include <fmt/format.h>

#include <set>

#include "aggregate/layout/sheets.hpp"

namespace nkigrid::aggregate {

Sheet error_sheet(const Tables& tables) {
  Sheet sheet{"errors",
              fmt::format("{}: how scored episodes ended, rule {}", tables.run, to_string(tables.rule)),
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
    sheet.columns.push_back(
        {std::string(to_string(static_cast<Outcome>(i))), Align::right, Kind::word, "episodes by outcome"});
  }
  for (const auto& group : groups)
    sheet.columns.push_back(
        {group, Align::right, Kind::word, "those that did not pass, by the error group of their final check"});
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

Sheet transition_sheet(const Tables& tables) {
  Sheet sheet{"transitions",
              fmt::format("{}: scored episodes by their first and their last failing turn, rule {}", tables.run,
                          to_string(tables.rule)),
              data_columns({"cell", "first_error", "last_error", "#episodes"}),
              {},
              {"last_error pass: the episode passed in the end; none: no turn failed, or none was checked"}};
  for (const auto& breakdown : tables.breakdowns) {
    for (const auto& [words, episodes] : breakdown.first_to_last)
      sheet.rows.push_back({breakdown.cell, words.first, words.second, std::to_string(episodes)});
  }
  return sheet;
}

Sheet display_turns(const Tables& tables) {
  Sheet sheet{"turns",
              fmt::format("{}: episodes that passed within so many turns, rule {}", tables.run, to_string(tables.rule)),
              {{"cell"}, {"scored", Align::right}},
              {},
              {}};
  const std::size_t turns = tables.breakdowns.empty() ? 0 : tables.breakdowns.front().passed_by_turn.size();
  for (std::size_t turn = 1; turn <= turns; ++turn) sheet.columns.push_back({std::to_string(turn), Align::right});
  for (const auto& breakdown : tables.breakdowns) {
    std::vector<std::string> words{breakdown.cell, std::to_string(breakdown.scored)};
    for (const auto passed : breakdown.passed_by_turn) words.push_back(std::to_string(passed));
    sheet.rows.push_back(std::move(words));
    // Are the turns enough? What the last one still won, of those it was needed for.
    std::size_t last = breakdown.open_by_turn.size();
    while (last > 0 && breakdown.open_by_turn[last - 1] == 0) --last;
    if (last < 2) continue;
    sheet.notes.push_back(fmt::format("{}: {} of {} episodes still open in turn {} passed in it", breakdown.cell,
                                      breakdown.passed_by_turn[last - 1] - breakdown.passed_by_turn[last - 2],
                                      breakdown.open_by_turn[last - 1], last));
  }
  return sheet;
}

Sheet data_turns(const Tables& tables) {
  Sheet sheet{"turns", "", data_columns({"cell", "#scored", "#turn", "#passed", "#open"}), {}, {}};
  for (const auto& breakdown : tables.breakdowns) {
    for (std::size_t turn = 0; turn < breakdown.passed_by_turn.size(); ++turn) {
      sheet.rows.push_back({breakdown.cell, std::to_string(breakdown.scored), std::to_string(turn + 1),
                            std::to_string(breakdown.passed_by_turn[turn]),
                            std::to_string(breakdown.open_by_turn[turn])});
    }
  }
  return sheet;
}

}  // namespace nkigrid::aggregate
