#include "aggregate/evidence/counted_episodes.hpp"

namespace nkigrid::aggregate {
namespace {

constexpr std::uint32_t kNotShown = ~std::uint32_t{0};

/// Where a cell and task of the plan stand in the tables.
struct Shown {
  std::uint32_t row = kNotShown, stratum = 0;
};

std::vector<Shown> shown_tasks(const Evidence& evidence) {
  const auto& plan = evidence.run->plan;
  std::vector<Shown> shown(plan.cells.size() * plan.tasks.size());
  for (std::uint32_t row = 0; row < evidence.scores.size(); ++row) {
    const auto& scores = evidence.scores[row];
    for (const auto& task : scores.tasks) shown[scores.cell * plan.tasks.size() + task.task] = {row, task.stratum};
  }
  return shown;
}

}  // namespace

void visit_counted(const Evidence& evidence, const std::function<void(const CountedEpisode&)>& visit) {
  const auto& plan = evidence.run->plan;
  const auto shown = shown_tasks(evidence);
  for (std::size_t place = 0; place < plan.episodes.size(); ++place) {
    const auto& planned = plan.episodes[place];
    const auto& [row, stratum] = shown[planned.cell * plan.tasks.size() + planned.task];
    const auto& end = evidence.ledger->ends[place];
    if (row != kNotShown && end) visit({row, stratum, place, planned, *end});
  }
}

}  // namespace nkigrid::aggregate
