#include "aggregate/statistics/task_counts.hpp"

#include <algorithm>
#include <map>

namespace nkigrid::aggregate {

bool has_equal_replicates(std::span<const TaskCount> tasks) noexcept {
  return std::all_of(tasks.begin(), tasks.end(),
                     [&](const auto& task) { return task.replicates == tasks.front().replicates; });
}

double mean_score(std::span<const TaskCount> tasks) noexcept {
  double sum = 0;
  std::uint64_t passed = 0, replicates = 0;
  for (const auto& task : tasks) {
    sum += static_cast<double>(task.passed) / task.replicates;
    passed += task.passed;
    replicates += task.replicates;
  }
  // Equal replicates: one division, so that the rate is the printed count's to the last bit.
  return has_equal_replicates(tasks) ? static_cast<double>(passed) / static_cast<double>(replicates)
                                     : sum / static_cast<double>(tasks.size());
}

LevelValues values_by_level(std::span<const double> values, std::span<const TaskCount> tasks) {
  std::map<std::uint32_t, std::vector<double>> levels;
  for (std::size_t i = 0; i < tasks.size(); ++i) levels[tasks[i].stratum].push_back(values[i]);
  LevelValues list;
  for (auto& [number, level] : levels) list.push_back(std::move(level));
  return list;
}

LevelValues scores_by_level(std::span<const TaskCount> tasks) {
  std::vector<double> scores;
  for (const auto& task : tasks) scores.push_back(static_cast<double>(task.passed) / task.replicates);
  return values_by_level(scores, tasks);
}

}  // namespace nkigrid::aggregate
