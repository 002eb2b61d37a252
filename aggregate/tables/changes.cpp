#include <fmt/format.h>

#include <map>
#include <tuple>

#include "aggregate/evidence/counted_episodes.hpp"
#include "aggregate/evidence/factors.hpp"
#include "aggregate/tables/table.hpp"
#include "aggregate/tables/words.hpp"

namespace nkigrid::aggregate {
namespace {

/// How many episodes of a cell ended one way in the plain run and another way in the run that is kept apart. The same
/// task and replicate is the same episode: with `reverify` the same kernel.
struct ChangeRow {
  std::string cell, run, level, before, after;
  std::uint64_t episodes = 0;
};

/// How an episode ended: pass, the error group of its kernel, or what it gave in place of one.
std::string ending_word(const log::End& end, Rule rule) {
  if (passed(end, rule)) return "pass";
  return end.code == Code::none ? std::string(to_string(end.outcome)) : std::string(group_of(end.code));
}

using EpisodeKey = std::tuple<std::string, std::uint32_t, std::uint32_t>;  ///< cell, task, replicate

std::vector<ChangeRow> make_changes(const Evidence& evidence) {
  std::map<EpisodeKey, std::string> plain;
  visit_counted(evidence, [&](const CountedEpisode& episode) {
    const auto& id = evidence.cell(evidence.scores[episode.row]).id;
    if (run_of(id).empty())
      plain[{id, episode.planned.task, episode.planned.replicate}] = ending_word(episode.end, evidence.options.rule);
  });
  std::map<std::tuple<std::size_t, std::uint32_t, std::string, std::string>, std::uint64_t> counts;
  visit_counted(evidence, [&](const CountedEpisode& episode) {
    const auto& id = evidence.cell(evidence.scores[episode.row]).id;
    if (run_of(id).empty()) return;
    const auto before = plain.find({std::string(plain_cell(id)), episode.planned.task, episode.planned.replicate});
    if (before != plain.end())
      ++counts[{episode.row, episode.stratum, before->second, ending_word(episode.end, evidence.options.rule)}];
  });
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
  const auto& rows = evidence.once(make_changes);
  sheet.caption = caption_of_counts(evidence, "episodes that ended otherwise in another run");
  sheet.notes = change_notes(rows);
  std::erase_if(sheet.rows, [](const Words& words) { return words[3] == words[4]; });
  return sheet;
}

std::string why_no_changes(const Evidence& evidence) {
  return evidence.once(make_changes).empty()
             ? "no cell is kept apart as cell@run; name two runs, such as those of `reverify`"
             : "every episode ended as it did in the run named first";
}

}  // namespace

Table changes_table() {
  return {.name = "changes", .display = display_changes, .data = data_changes, .why_empty = why_no_changes};
}

}  // namespace nkigrid::aggregate
