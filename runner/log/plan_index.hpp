#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "jobs/plan.hpp"
#include "runner/log/records.hpp"

namespace nkigrid::log {

/// Finds an episode's place in a plan by its id, whatever the plan's size.
class PlanIndex {
 public:
  static constexpr std::uint32_t kUnplanned = std::numeric_limits<std::uint32_t>::max();

  /// @param plan outlives this
  explicit PlanIndex(const jobs::Plan& plan);

  /// The index into plan.episodes; kUnplanned when the plan has no such episode, or has it under another key.
  std::uint32_t find(const AttemptId& id) const;

 private:
  struct Range {
    std::uint32_t first = kUnplanned, end = 0;
  };
  const jobs::Plan& plan_;
  std::vector<Range> ranges_;  ///< episodes of each (cell, task): they stand side by side, by replicate
  std::unordered_map<std::string_view, std::uint32_t> cells_, tasks_;
};

}  // namespace nkigrid::log
