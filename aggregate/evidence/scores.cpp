#include "aggregate/evidence/scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::aggregate {
namespace {

// One flag a planned task: does the table look at it?
std::vector<bool> wanted_tasks(const jobs::Run& run, const std::optional<std::string>& subset) {
  const auto& tasks = run.plan.tasks;
  if (!subset) return std::vector<bool>(tasks.size(), true);
  const auto found = run.benchmark.subsets.find(*subset);
  if (found == run.benchmark.subsets.end()) {
    std::vector<std::string> names;
    for (const auto& [name, ids] : run.benchmark.subsets) names.push_back(name);
    throw Error{ErrorCode::usage,
                fmt::format("unknown subset '{}'{}; the run's benchmark has: {}", *subset, did_you_mean(*subset, names),
                            names.empty() ? "no named subset" : fmt::format("{}", fmt::join(names, ", ")))};
  }
  const std::set<std::string_view> ids(found->second.begin(), found->second.end());
  std::vector<bool> wanted;
  for (const auto& task : tasks) wanted.push_back(ids.contains(task.id));
  return wanted;
}

}  // namespace

std::vector<std::string> level_names(const jobs::Plan& plan) {
  std::set<std::string> names;
  for (const auto& task : plan.tasks) names.insert(task.level);
  return {names.begin(), names.end()};
}

std::vector<CellScores> collect_scores(const jobs::Run& run, const log::Ledger& ledger, Rule rule,
                                       const std::optional<std::string>& subset) {
  const auto& plan = run.plan;
  const auto wanted = wanted_tasks(run, subset);
  const auto levels = level_names(plan);
  std::vector<std::uint32_t> strata;
  for (const auto& task : plan.tasks) {
    strata.push_back(
        static_cast<std::uint32_t>(std::lower_bound(levels.begin(), levels.end(), task.level) - levels.begin()));
  }
  std::vector<std::vector<TaskScore>> grid(plan.cells.size(), std::vector<TaskScore>(plan.tasks.size()));
  std::vector<bool> synthetic(plan.cells.size());
  for (std::size_t i = 0; i < plan.episodes.size(); ++i) {
    const auto& episode = plan.episodes[i];
    if (!wanted[episode.task]) continue;
    auto& score = grid[episode.cell][episode.task];
    ++score.planned;
    if (!ledger.ends[i]) continue;
    ++score.scored;
    score.passed += passed(*ledger.ends[i], rule);
    if (ledger.ends[i]->synthetic) synthetic[episode.cell] = true;
  }
  std::vector<CellScores> result;
  for (std::uint32_t cell = 0; cell < plan.cells.size(); ++cell) {
    CellScores scores{cell, {}, synthetic[cell]};
    for (std::uint32_t task = 0; task < plan.tasks.size(); ++task) {
      auto& score = grid[cell][task];
      if (score.planned == 0) continue;
      score.task = task;
      score.stratum = strata[task];
      scores.tasks.push_back(score);
    }
    if (!scores.tasks.empty()) result.push_back(std::move(scores));
  }
  return result;
}

WeighedPasses weigh(const std::vector<TaskScore>& tasks) noexcept {
  WeighedPasses sums;
  sums.equal =
      std::all_of(tasks.begin(), tasks.end(), [&](const auto& task) { return task.planned == tasks.front().planned; });
  for (const auto& task : tasks) {
    // Equal replicates: whole numbers, so that the rate is k/n to the last bit.
    const double unit = sums.equal ? 1 : task.planned;
    sums.planned += task.planned / unit;
    sums.scored += task.scored / unit;
    sums.passed += task.passed / unit;
  }
  return sums;
}

std::vector<TaskCount> scored_counts(const std::vector<TaskScore>& tasks) {
  std::vector<TaskCount> counts;
  for (const auto& task : tasks) {
    if (task.scored > 0) counts.push_back({task.passed, task.scored, task.stratum});
  }
  return counts;
}

}  // namespace nkigrid::aggregate
