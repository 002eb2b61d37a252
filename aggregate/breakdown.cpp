#include "aggregate/breakdown.hpp"

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

void add_pass(Breakdown& row, std::uint32_t turns) {
  if (row.passed_by_turn.size() < turns) row.passed_by_turn.resize(turns);
  if (turns > 0) ++row.passed_by_turn[turns - 1];
}

}  // namespace

std::vector<Breakdown> make_breakdowns(const jobs::Run& run, const log::Ledger& ledger,
                                       const std::vector<CellScores>& scores, Rule rule) {
  const auto& plan = run.plan;
  std::vector<Breakdown> breakdowns(scores.size());
  for (std::size_t row = 0; row < scores.size(); ++row)
    breakdowns[row].cell = plan.cells[scores[row].cell].id;
  const auto rows = rows_of_tasks(plan, scores);
  std::uint32_t most_turns = 0;
  for (std::size_t i = 0; i < plan.episodes.size(); ++i) {
    const auto row = rows[plan.episodes[i].cell * plan.tasks.size() + plan.episodes[i].task];
    if (row == kNoRow || !ledger.ends[i]) continue;
    const auto& end = *ledger.ends[i];
    auto& breakdown = breakdowns[row];
    ++breakdown.scored;
    ++breakdown.outcomes[static_cast<std::size_t>(end.outcome)];
    if (end.outcome != Outcome::pass && end.code != Code::none)
      ++breakdown.groups[std::string(group_of(end.code))];
    if (passed(end, rule)) add_pass(breakdown, end.turns);
    most_turns = std::max(most_turns, end.turns);
  }
  for (auto& breakdown : breakdowns) {
    breakdown.passed_by_turn.resize(most_turns);
    for (std::size_t turn = 1; turn < breakdown.passed_by_turn.size(); ++turn)
      breakdown.passed_by_turn[turn] += breakdown.passed_by_turn[turn - 1];
  }
  return breakdowns;
}

}  // namespace nkigrid::aggregate
