#include <map>

#include "aggregate/evidence/counted_episodes.hpp"
#include "aggregate/tables/table.hpp"
#include "aggregate/tables/words.hpp"

namespace nkigrid::aggregate {
namespace {

/// Error groups of an episode's first and last failing turn: "none" where no turn failed, "pass" where it passed.
using FirstAndLast = std::pair<std::string, std::string>;

struct TransitionRow {
  std::string cell;
  std::map<FirstAndLast, std::uint64_t> episodes;
};

std::string group_word(Code code) { return code == Code::none ? "none" : std::string(group_of(code)); }

// Empty rows where the turns were not read.
std::vector<TransitionRow> make_transitions(const Evidence& evidence) {
  std::vector<TransitionRow> rows;
  for (const auto& cell : evidence.scores) rows.push_back({evidence.cell(cell).id, {}});
  if (!evidence.turns) return rows;
  visit_counted(evidence, [&](const CountedEpisode& episode) {
    const auto& trail = evidence.turns->trails[episode.place];
    const bool pass = passed(episode.end, evidence.options.rule);
    ++rows[episode.row].episodes[{group_word(trail.first), pass ? "pass" : group_word(trail.last)}];
  });
  return rows;
}

Sheet transition_sheet(const Evidence& evidence) {
  Sheet sheet{.caption = caption_of_counts(evidence, "scored episodes by their first and their last failing turn"),
              .columns = data_columns({"cell", "first_error", "last_error", "#episodes"}),
              .notes = {"last_error pass: the episode passed in the end; none: no turn failed, or none was checked"}};
  for (const auto& row : evidence.once(make_transitions)) {
    for (const auto& [errors, episodes] : row.episodes)
      sheet.rows.push_back({row.cell, errors.first, errors.second, std::to_string(episodes)});
  }
  return sheet;
}

}  // namespace

Table transitions_table() {
  return {.name = "transitions", .display = transition_sheet, .data = transition_sheet, .needs_turns = true};
}

}  // namespace nkigrid::aggregate
