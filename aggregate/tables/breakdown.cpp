#include "aggregate/tables/breakdown.hpp"

#include <algorithm>

namespace nkigrid::aggregate {
namespace {

constexpr std::uint32_t kNoRow = ~std::uint32_t{0};

// plan cell x task -> row of the table, or kNoRow.
std::vector<std::uint32_t> rows_of_tasks(const jobs::Plan& plan, const std::vector<CellScores>& scores) {
  std::vector<std::uint32_t> rows(plan.cells.size() * plan.tasks.size(), kNoRow);
  for (std::uint32_t row = 0; row < scores.size(); ++row) {
    for (const auto& task : scores[row].tasks) rows[scores[row].cell * plan.tasks.size() + task.task] = row;
  }
  return rows;
}

void add_turns(Breakdown& row, std::uint32_t turns, bool passed) {
  if (turns == 0) return;
  if (row.open_by_turn.size() < turns) row.open_by_turn.resize(turns), row.passed_by_turn.resize(turns);
  ++row.open_by_turn[turns - 1];
  if (passed) ++row.passed_by_turn[turns - 1];
}

// Counts at single turns to counts up to a turn, and from a turn on.
void cumulate(Breakdown& row, std::size_t turns) {
  row.passed_by_turn.resize(turns);
  row.open_by_turn.resize(turns);
  for (std::size_t turn = 1; turn < turns; ++turn) {
    row.passed_by_turn[turn] += row.passed_by_turn[turn - 1];
    row.open_by_turn[turns - 1 - turn] += row.open_by_turn[turns - turn];
  }
}

std::string group_word(Code code) { return code == Code::none ? "none" : std::string(group_of(code)); }

// Calls visit(row, episode) for each counted episode that the table shows.
template <class Visit>
void visit_counted(const jobs::Run& run, const log::Ledger& ledger, const std::vector<CellScores>& scores,
                   Visit visit) {
  const auto& plan = run.plan;
  const auto rows = rows_of_tasks(plan, scores);
  for (std::size_t i = 0; i < plan.episodes.size(); ++i) {
    const auto row = rows[plan.episodes[i].cell * plan.tasks.size() + plan.episodes[i].task];
    if (row != kNoRow && ledger.ends[i]) visit(row, i);
  }
}

}  // namespace

std::vector<Breakdown> make_breakdowns(const jobs::Run& run, const log::Ledger& ledger,
                                       const std::vector<CellScores>& scores, Rule rule, const TurnFacts* facts) {
  std::vector<Breakdown> breakdowns(scores.size());
  for (std::size_t row = 0; row < scores.size(); ++row) breakdowns[row].cell = run.plan.cells[scores[row].cell].id;
  std::uint32_t most_turns = 0;
  visit_counted(run, ledger, scores, [&](std::uint32_t row, std::size_t i) {
    const auto& end = *ledger.ends[i];
    auto& breakdown = breakdowns[row];
    ++breakdown.scored;
    ++breakdown.outcomes[static_cast<std::size_t>(end.outcome)];
    if (end.outcome != Outcome::pass && end.code != Code::none) ++breakdown.groups[std::string(group_of(end.code))];
    add_turns(breakdown, end.turns, passed(end, rule));
    most_turns = std::max(most_turns, end.turns);
    if (!facts) return;
    const auto& trail = facts->trails[i];
    ++breakdown.first_to_last[{group_word(trail.first), passed(end, rule) ? "pass" : group_word(trail.last)}];
  });
  for (auto& breakdown : breakdowns) cumulate(breakdown, most_turns);
  return breakdowns;
}

std::vector<RuleRow> make_rules(const jobs::Run& run, const log::Ledger& ledger,
                                const std::vector<CellScores>& scores) {
  std::vector<RuleRow> rows(scores.size());
  for (std::size_t row = 0; row < scores.size(); ++row) rows[row].cell = run.plan.cells[scores[row].cell].id;
  visit_counted(run, ledger, scores, [&](std::uint32_t at, std::size_t i) {
    const auto& end = *ledger.ends[i];
    const bool paper = passed(end, Rule::paper), strict = passed(end, Rule::strict), best = passed(end, Rule::best);
    auto& row = rows[at];
    ++row.scored;
    row.paper += paper, row.strict += strict, row.best += best;
    row.paper_not_strict += paper && !strict, row.strict_not_paper += strict && !paper;
    row.best_not_paper += best && !paper, row.paper_not_best += paper && !best;
  });
  return rows;
}

}  // namespace nkigrid::aggregate
