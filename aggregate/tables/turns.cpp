#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "aggregate/evidence/counted_episodes.hpp"
#include "aggregate/statistics/intervals.hpp"
#include "aggregate/tables/table.hpp"
#include "aggregate/tables/words.hpp"

namespace nkigrid::aggregate {
namespace {

/// A cell's tasks with the turns in which their episodes passed.
struct TaskTurns {
  TaskCount count;                       ///< of scored episodes; passed is filled in for a turn
  std::vector<std::uint32_t> passed_in;  ///< turns of the episodes that passed
};
using CellTurns = std::map<std::uint32_t, TaskTurns>;  ///< by task

/// In which turn the passes of a cell came. [t - 1]: turn t; one length for all cells.
struct TurnsRow {
  std::string cell;
  std::size_t most = 0;  ///< turns that an episode may take; those that one did, where its mode is not known
  std::uint64_t scored = 0;
  std::vector<std::uint64_t> passed;  ///< episodes that passed and took at most t turns
  std::vector<std::uint64_t> open;    ///< episodes that took at least t turns
  /// Of the pass rate within t turns, for other tasks of these levels; none with episodes outstanding, unless
  /// rates over the scored ones are asked for.
  std::vector<std::optional<double>> rates;
  std::vector<std::optional<Interval>> intervals;
  CellTurns tasks;
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

std::vector<TaskCount> passed_within(const CellTurns& tasks, std::size_t turn) {
  std::vector<TaskCount> counts;
  for (const auto& [task, turns] : tasks) {
    auto count = turns.count;
    count.passed = static_cast<std::uint32_t>(
        std::count_if(turns.passed_in.begin(), turns.passed_in.end(), [&](auto in) { return in <= turn; }));
    counts.push_back(count);
  }
  return counts;
}

// One interval a turn, by the rule of rates: a curve within them is one that tasks of this kind would give.
void add_rates(TurnsRow& row, bool whole, double confidence) {
  for (std::size_t turn = 1; turn <= row.passed.size(); ++turn) {
    const auto counts = passed_within(row.tasks, turn);
    const bool known = whole && !counts.empty();
    row.rates.push_back(known ? std::optional(mean_score(counts)) : std::nullopt);
    row.intervals.push_back(known ? std::optional(rate_interval(counts, confidence)) : std::nullopt);
  }
}

bool is_whole(const CellScores& cell) {
  return std::all_of(cell.tasks.begin(), cell.tasks.end(),
                     [](const TaskScore& task) { return task.scored == task.planned; });
}

std::size_t turns_of(const jobs::Grid& grid, const std::string& mode) {
  const auto at =
      std::find_if(grid.modes.begin(), grid.modes.end(), [&](const auto& each) { return each.name == mode; });
  return at == grid.modes.end() ? 0 : at->turns;
}

std::vector<TurnsRow> make_turns(const Evidence& evidence) {
  std::vector<TurnsRow> rows;
  for (const auto& scores : evidence.scores) {
    const auto& cell = evidence.cell(scores);
    rows.push_back({.cell = cell.id, .most = turns_of(evidence.run->grid, cell.mode)});
  }
  std::uint32_t most = 0;
  visit_counted(evidence, [&](const CountedEpisode& episode) {
    auto& row = rows[episode.row];
    ++row.scored;
    count_turns(row, episode.end.turns, passed(episode.end, evidence.options.rule));
    most = std::max(most, episode.end.turns);
    row.most = std::max<std::size_t>(row.most, episode.end.turns);
    auto& task = row.tasks.try_emplace(episode.planned.task, TaskTurns{{0, 0, episode.stratum}, {}}).first->second;
    ++task.count.replicates;
    if (passed(episode.end, evidence.options.rule)) task.passed_in.push_back(episode.end.turns);
  });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    cumulate(rows[i], most);
    const bool known = evidence.options.partial || is_whole(evidence.scores[i]);
    add_rates(rows[i], known, evidence.options.confidence);
  }
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
    for (std::size_t turn = 0; turn < turns; ++turn)
      words.push_back(turn < row.most ? std::to_string(row.passed[turn]) : "");
    if (auto note = last_turn_note(row); !note.empty()) sheet.notes.push_back(std::move(note));
  }
  return sheet;
}

Sheet data_turns(const Evidence& evidence) {
  Sheet sheet{.columns = data_columns({"cell", "#scored", "#turn", "#passed", "#open", "#rate", "interval_method",
                                       "#interval_low", "#interval_high"})};
  for (const auto& row : evidence.once(make_turns)) {
    for (std::size_t turn = 0; turn < std::min(row.most, row.passed.size()); ++turn) {
      auto& words = sheet.rows.emplace_back(Words{row.cell, std::to_string(row.scored), std::to_string(turn + 1),
                                                  std::to_string(row.passed[turn]), std::to_string(row.open[turn]),
                                                  fraction(row.rates[turn])});
      push_interval(words, row.intervals[turn]);
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
