#include <fmt/format.h>

#include <map>
#include <set>

#include "aggregate/evidence/shared_tasks.hpp"
#include "aggregate/tables/pairs.hpp"
#include "aggregate/tables/table.hpp"

namespace nkigrid::aggregate {
namespace {

/// A task that two compared cells do not solve alike.
struct FlipRow {
  std::string a, b, task;
  TaskCount in_a, in_b;
};

// In the order of pairs (each two cells once) and tasks.
std::vector<FlipRow> make_flips(const Evidence& evidence) {
  std::map<std::string, const CellScores*> by_id;
  for (const auto& cell : evidence.scores) by_id[evidence.cell(cell).id] = &cell;
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<FlipRow> flips;
  for (const auto& pair : evidence.once(make_pairs)) {
    if (!seen.insert({pair.a, pair.b}).second) continue;
    const CellScores* const both[] = {by_id.at(pair.a), by_id.at(pair.b)};
    const auto shared = share_tasks(both);
    for (std::size_t i = 0; i < shared.ids.size(); ++i) {
      const auto &a = shared.counts[0][i], &b = shared.counts[1][i];
      if (std::uint64_t{a.passed} * b.replicates != std::uint64_t{b.passed} * a.replicates)
        flips.push_back({pair.a, pair.b, evidence.run->plan.tasks[shared.ids[i]].id, a, b});
    }
  }
  return flips;
}

std::string passes_word(const TaskCount& task) { return fmt::format("{}/{}", task.passed, task.replicates); }

Sheet display_flips(const Evidence& evidence) {
  Sheet sheet{.caption = caption_of_counts(evidence, "tasks that two cells do not solve alike, passes of replicates"),
              .columns = {{"a"}, {"b"}, {"task"}, {"in a", Align::right}, {"in b", Align::right}}};
  for (const auto& flip : evidence.once(make_flips))
    sheet.rows.push_back({flip.a, flip.b, flip.task, passes_word(flip.in_a), passes_word(flip.in_b)});
  return sheet;
}

Sheet data_flips(const Evidence& evidence) {
  Sheet sheet{.columns = data_columns({"a", "b", "task", "#passed_a", "#replicates_a", "#passed_b", "#replicates_b"})};
  for (const auto& flip : evidence.once(make_flips)) {
    sheet.rows.push_back({flip.a, flip.b, flip.task, std::to_string(flip.in_a.passed),
                          std::to_string(flip.in_a.replicates), std::to_string(flip.in_b.passed),
                          std::to_string(flip.in_b.replicates)});
  }
  return sheet;
}

std::string why_no_flips(const Evidence& evidence) {
  return evidence.once(make_pairs).empty() ? kNoPairs : "the compared cells pass the same tasks, equally often";
}

}  // namespace

Table flips_table() {
  return {.name = "flips", .display = display_flips, .data = data_flips, .why_empty = why_no_flips};
}

}  // namespace nkigrid::aggregate
