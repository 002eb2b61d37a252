#include "aggregate/evidence/shared_tasks.hpp"

#include <algorithm>

namespace nkigrid::aggregate {

SharedTasks share_tasks(std::span<const CellScores* const> cells, const TaskFilter& wanted) {
  SharedTasks shared;
  shared.counts.resize(cells.size());
  std::vector<std::size_t> at(cells.size(), 0);
  for (const auto& task : cells.front()->tasks) {
    if (wanted && !wanted(task)) continue;
    bool everywhere = true, scored = true;
    std::uint64_t open = 0;
    for (std::size_t c = 0; c < cells.size() && everywhere; ++c) {
      const auto& tasks = cells[c]->tasks;
      while (at[c] < tasks.size() && tasks[at[c]].task < task.task) ++at[c];
      everywhere = at[c] < tasks.size() && tasks[at[c]].task == task.task;
      if (!everywhere) break;
      scored &= tasks[at[c]].scored > 0;
      open += tasks[at[c]].planned - tasks[at[c]].scored;
    }
    if (!everywhere) continue;
    ++shared.tasks;
    shared.outstanding += open;
    if (!scored) continue;
    shared.ids.push_back(task.task);
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const auto& score = cells[c]->tasks[at[c]];
      shared.counts[c].push_back({score.passed, score.scored, score.stratum});
    }
  }
  return shared;
}

bool is_ready(const SharedTasks& shared, bool partial) noexcept {
  return !shared.ids.empty() && (shared.outstanding == 0 || partial);
}

std::string scope_name(const std::string& scope) {
  return scope.starts_with(kCategoryScope) ? scope.substr(kCategoryScope.size()) : scope;
}

TaskFilter in_scope(const jobs::Plan& plan, const std::string& scope) {
  if (scope == "all") return {};
  const bool category = scope.starts_with(kCategoryScope);
  return [&plan, category, name = scope_name(scope)](const TaskScore& score) {
    const auto& task = plan.tasks[score.task];
    return (category ? task.category : task.level) == name;
  };
}

bool one_replicate(const SharedTasks& shared) noexcept {
  return std::all_of(shared.counts.begin(), shared.counts.end(), [](const auto& tasks) {
    return std::all_of(tasks.begin(), tasks.end(), [](const auto& task) { return task.replicates == 1; });
  });
}

}  // namespace nkigrid::aggregate
