#include "runner/log/plan_index.hpp"

#include <algorithm>

namespace nkigrid::log {

PlanIndex::PlanIndex(const jobs::Plan& plan) : plan_(plan), ranges_(plan.cells.size() * plan.tasks.size()) {
  for (std::uint32_t c = 0; c < plan.cells.size(); ++c) cells_.emplace(plan.cells[c].id, c);
  for (std::uint32_t t = 0; t < plan.tasks.size(); ++t) tasks_.emplace(plan.tasks[t].id, t);
  for (std::uint32_t i = 0; i < plan.episodes.size(); ++i) {
    auto& range = ranges_[std::size_t{plan.episodes[i].cell} * plan.tasks.size() + plan.episodes[i].task];
    range.first = std::min(range.first, i);
    range.end = i + 1;
  }
}

std::uint32_t PlanIndex::find(const AttemptId& id) const {
  const auto cell = cells_.find(id.episode.cell);
  const auto task = tasks_.find(id.episode.task);
  if (cell == cells_.end() || task == tasks_.end()) return kUnplanned;
  const auto range = ranges_[std::size_t{cell->second} * plan_.tasks.size() + task->second];
  if (range.first == kUnplanned || plan_.key(cell->second, task->second) != id.key) return kUnplanned;
  const auto begin = plan_.episodes.begin() + range.first, end = plan_.episodes.begin() + range.end;
  const auto found =
      std::lower_bound(begin, end, id.episode.replicate,
                       [](const auto& episode, std::uint32_t replicate) { return episode.replicate < replicate; });
  if (found == end || found->replicate != id.episode.replicate) return kUnplanned;
  return static_cast<std::uint32_t>(found - plan_.episodes.begin());
}

}  // namespace nkigrid::log
