#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "aggregate/evidence/counted_episodes.hpp"
#include "aggregate/tables/table.hpp"
#include "aggregate/tables/words.hpp"

namespace nkigrid::aggregate {
namespace {

/// How the scored episodes of one cell ended.
struct ErrorRow {
  std::string cell;
  std::uint64_t scored = 0;
  std::array<std::uint64_t, kOutcomes> outcomes{};  ///< by Outcome
  /// Error group of the final kernel's check, of episodes that did not pass.
  std::map<std::string, std::uint64_t> groups;
  std::map<std::string, std::uint64_t> codes;  ///< the same by code
};

std::vector<ErrorRow> make_errors(const Evidence& evidence) {
  std::vector<ErrorRow> rows;
  for (const auto& cell : evidence.scores) rows.emplace_back().cell = evidence.cell(cell).id;
  visit_counted(evidence, [&](const CountedEpisode& episode) {
    const auto& end = episode.end;
    auto& row = rows[episode.row];
    ++row.scored;
    ++row.outcomes[static_cast<std::size_t>(end.outcome)];
    if (end.outcome == Outcome::pass || end.code == Code::none) return;
    ++row.groups[std::string(group_of(end.code))];
    ++row.codes[std::string(to_string(end.code))];
  });
  return rows;
}

std::string outcome_name(std::size_t outcome) { return std::string(to_string(static_cast<Outcome>(outcome))); }

std::uint64_t episodes_of(const ErrorRow& row, const std::string& group) {
  const auto found = row.groups.find(group);
  return found == row.groups.end() ? 0 : found->second;
}

// Columns are what was seen in any cell. For people and programs alike: all are counts.
Sheet error_sheet(const Evidence& evidence) {
  const auto& rows = evidence.once(make_errors);
  Sheet sheet{.caption = caption_of_counts(evidence, "how scored episodes ended"),
              .columns = {{"cell"}, {"scored", Align::right}}};
  std::set<std::size_t> outcomes;
  std::set<std::string> groups;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < kOutcomes; ++i) {
      if (row.outcomes[i] > 0) outcomes.insert(i);
    }
    for (const auto& [group, count] : row.groups) groups.insert(group);
  }
  for (const auto i : outcomes)
    sheet.columns.push_back({outcome_name(i), Align::right, Kind::word, "episodes by outcome"});
  for (const auto& group : groups)
    sheet.columns.push_back({group, Align::right, Kind::word, "failures by final check"});
  for (const auto& row : rows) {
    Words words{row.cell, std::to_string(row.scored)};
    for (const auto i : outcomes) words.push_back(std::to_string(row.outcomes[i]));
    for (const auto& group : groups) words.push_back(std::to_string(episodes_of(row, group)));
    sheet.rows.push_back(std::move(words));
  }
  return sheet;
}

nlohmann::ordered_json json_errors(const Evidence& evidence) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& row : evidence.once(make_errors)) {
    auto outcomes = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < kOutcomes; ++i) {
      if (row.outcomes[i] > 0) outcomes[outcome_name(i)] = row.outcomes[i];
    }
    rows.push_back({{"cell", row.cell},
                    {"scored", row.scored},
                    {"outcomes", outcomes},
                    {"groups", row.groups},
                    {"codes", row.codes}});
  }
  return rows;
}

}  // namespace

Table errors_table() { return {.name = "errors", .display = error_sheet, .data = error_sheet, .json = json_errors}; }

}  // namespace nkigrid::aggregate
