#include "cli/reward_columns.hpp"

#include "aggregate/evidence/reward.hpp"
#include "cli/bench_proof.hpp"

namespace nkigrid::cli {

RewardColumns::RewardColumns(const jobs::Run& run) {
  for (const auto& task : run.plan.tasks)
    roofline_us_.push_back(roofline_us_of(run.benchmark, *run.benchmark.find(task.id)));
}

void RewardColumns::put(RowWriter& rows, std::uint32_t task, const log::End* end, std::string_view findings) const {
  const aggregate::Reward reward =
      aggregate::reward_of(end != nullptr ? *end : log::End(), findings, roofline_us_.at(task));
  rows.number("reward_binary", reward.binary).number("reward_graded", reward.graded);
  rows.number("reward_stages", reward.stages)
      .number("reward_elements", reward.elements)
      .number("reward_speed", reward.speed);
}

}  // namespace nkigrid::cli
