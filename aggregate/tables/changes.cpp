#include <fmt/format.h>

#include <map>
#include <tuple>

#include "aggregate/evidence/factors.hpp"
#include "aggregate/tables/endings.hpp"
#include "aggregate/tables/table.hpp"
#include "aggregate/tables/words.hpp"

namespace nkigrid::aggregate {
namespace {

/// Episodes of a cell and level that ended one way in the run named first and another way in one that is kept apart.
struct ChangeRow {
  std::string cell, run, level, before, after;
  std::uint64_t episodes = 0;
};

std::vector<ChangeRow> make_changes(const Evidence& evidence) {
  std::map<std::tuple<std::size_t, std::uint32_t, std::string, std::string>, std::uint64_t> counts;
  for (const auto& pair : evidence.once(make_ending_pairs)) ++counts[{pair.row, pair.stratum, pair.before, pair.after}];
  std::vector<ChangeRow> rows;
  for (const auto& [key, episodes] : counts) {
    const auto& [row, stratum, before, after] = key;
    const auto& id = evidence.cell(evidence.scores[row]).id;
    rows.push_back(
        {std::string(plain_cell(id)), std::string(run_of(id)), evidence.levels[stratum], before, after, episodes});
  }
  return rows;
}

/// "cell@run: 40 of 48 episodes ended alike; 3 lost their pass, 1 won one".
Words change_notes(const std::vector<ChangeRow>& rows) {
  struct Sum {
    std::uint64_t all = 0, alike = 0, lost = 0, won = 0;
  };
  std::map<std::string, Sum> sums;
  for (const auto& row : rows) {
    auto& sum = sums[row.cell + "@" + row.run];
    sum.all += row.episodes;
    if (row.before == row.after) sum.alike += row.episodes;
    if (row.before == "pass" && row.after != "pass") sum.lost += row.episodes;
    if (row.before != "pass" && row.after == "pass") sum.won += row.episodes;
  }
  Words notes;
  for (const auto& [name, sum] : sums) {
    notes.push_back(fmt::format("{}: {} of {} episodes ended alike; {} lost their pass, {} won one", name, sum.alike,
                                sum.all, sum.lost, sum.won));
  }
  return notes;
}

Sheet data_changes(const Evidence& evidence) {
  Sheet sheet{.columns = data_columns({"cell", "run", "level", "before", "after", "#episodes"})};
  for (const auto& row : evidence.once(make_changes))
    sheet.rows.push_back({row.cell, row.run, row.level, row.before, row.after, std::to_string(row.episodes)});
  return sheet;
}

/// For people: only what changed.
Sheet display_changes(const Evidence& evidence) {
  auto sheet = data_changes(evidence);
  sheet.caption = caption_of_counts(evidence, "episodes that ended otherwise in another run");
  sheet.notes = change_notes(evidence.once(make_changes));
  std::erase_if(sheet.rows, [](const Words& words) { return words[3] == words[4]; });
  return sheet;
}

}  // namespace

Table changes_table() {
  return {.name = "changes", .display = display_changes, .data = data_changes, .why_empty = why_no_ending_pairs};
}

}  // namespace nkigrid::aggregate
