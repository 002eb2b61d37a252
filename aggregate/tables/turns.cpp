#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "aggregate/evidence/counted_episodes.hpp"
#include "aggregate/tables/table.hpp"
#include "aggregate/tables/words.hpp"

namespace nkigrid::aggregate {
namespace {

/// In which turn the passes of a cell came. [t - 1]: turn t; one length for all cells.
struct TurnsRow {
  std::string cell;
  std::uint64_t scored = 0;
  std::vector<std::uint64_t> passed;  ///< episodes that passed and took at most t turns
  std::vector<std::uint64_t> open;    ///< episodes that took at least t turns
};

void count_turns(TurnsRow& row, std::uint32_t turns, bool passed) {
  if (turns == 0) return;
  if (row.open.size() < turns) row.open.resize(turns), row.passed.resize(turns);
  ++row.open[turns - 1];
  if (passed) ++row.passed[turns - 1];
}

// Counts at single turns to counts up to a turn, and from a turn on.
void cumulate(TurnsRow& row, std::size_t turns) {
  row.passed.resize(turns);
  row.open.resize(turns);
  for (std::size_t turn = 1; turn < turns; ++turn) {
    row.passed[turn] += row.passed[turn - 1];
    row.open[turns - 1 - turn] += row.open[turns - turn];
  }
}

std::vector<TurnsRow> make_turns(const Evidence& evidence) {
  std::vector<TurnsRow> rows;
  for (const auto& cell : evidence.scores) rows.emplace_back().cell = evidence.cell(cell).id;
  std::uint32_t most = 0;
  visit_counted(evidence, [&](const CountedEpisode& episode) {
    auto& row = rows[episode.row];
    ++row.scored;
    count_turns(row, episode.end.turns, passed(episode.end, evidence.options.rule));
    most = std::max(most, episode.end.turns);
  });
  for (auto& row : rows) cumulate(row, most);
  return rows;
}

// Are the turns enough? What the last one still won, of those it was needed for; empty where one turn was all.
std::string last_turn_note(const TurnsRow& row) {
  std::size_t last = row.open.size();
  while (last > 0 && row.open[last - 1] == 0) --last;
  if (last < 2) return "";
  return fmt::format("{}: {} of {} episodes still open in turn {} passed in it", row.cell,
                     row.passed[last - 1] - row.passed[last - 2], row.open[last - 1], last);
}

Sheet display_turns(const Evidence& evidence) {
  const auto& rows = evidence.once(make_turns);
  Sheet sheet{.caption = caption_of_counts(evidence, "episodes that passed within so many turns"),
              .columns = {{"cell"}, {"scored", Align::right}}};
  const std::size_t turns = rows.empty() ? 0 : rows.front().passed.size();
  for (std::size_t turn = 1; turn <= turns; ++turn) sheet.columns.push_back({std::to_string(turn), Align::right});
  for (const auto& row : rows) {
    auto& words = sheet.rows.emplace_back(Words{row.cell, std::to_string(row.scored)});
    for (const auto passed : row.passed) words.push_back(std::to_string(passed));
    if (auto note = last_turn_note(row); !note.empty()) sheet.notes.push_back(std::move(note));
  }
  return sheet;
}

Sheet data_turns(const Evidence& evidence) {
  Sheet sheet{.columns = data_columns({"cell", "#scored", "#turn", "#passed", "#open"})};
  for (const auto& row : evidence.once(make_turns)) {
    for (std::size_t turn = 0; turn < row.passed.size(); ++turn) {
      sheet.rows.push_back({row.cell, std::to_string(row.scored), std::to_string(turn + 1),
                            std::to_string(row.passed[turn]), std::to_string(row.open[turn])});
    }
  }
  return sheet;
}

nlohmann::ordered_json json_turns(const Evidence& evidence) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& row : evidence.once(make_turns))
    rows.push_back({{"cell", row.cell}, {"scored", row.scored}, {"passed", row.passed}, {"open", row.open}});
  return rows;
}

}  // namespace

Table turns_table() { return {.name = "turns", .display = display_turns, .data = data_turns, .json = json_turns}; }

}  // namespace nkigrid::aggregate
