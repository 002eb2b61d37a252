#include "aggregate/statistics/sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "jobs/base/error.hpp"

namespace nkigrid::aggregate {

std::int64_t common_denominator(std::span<const TaskCount> tasks, std::size_t summed) {
  constexpr std::int64_t kMaxPoints = 1 << 22;
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(summed, 1));
  std::int64_t multiple = 1;
  for (const auto& task : tasks) {
    multiple = std::lcm(multiple, static_cast<std::int64_t>(task.replicates));
    if (multiple > kMaxPoints / count) {
      throw Error{ErrorCode::usage,
                  fmt::format("cannot compute the exact test of {} tasks (their replicates have no common multiple "
                              "under {}, the limit); finish the run, or make the replicates equal",
                              summed, kMaxPoints / count)};
    }
  }
  return multiple;
}

std::int64_t scaled_score(const TaskCount& task, std::int64_t denominator) noexcept {
  return static_cast<std::int64_t>(task.passed) * (denominator / static_cast<std::int64_t>(task.replicates));
}

Sample group_by_stratum(std::int64_t denominator, std::span<const TaskCount> tasks,
                        std::span<const std::int64_t> scores) {
  std::map<std::uint32_t, std::vector<std::int64_t>> strata;
  for (std::size_t i = 0; i < tasks.size(); ++i) strata[tasks[i].stratum].push_back(scores[i]);
  Sample sample{denominator, {}};
  for (auto& [number, values] : strata) sample.strata.push_back(std::move(values));
  return sample;
}

std::int64_t Sample::sum() const noexcept {
  std::int64_t total = 0;
  for (const auto& stratum : strata) total = std::accumulate(stratum.begin(), stratum.end(), total);
  return total;
}

}  // namespace nkigrid::aggregate
