#include "jobs/plan.hpp"

#include <algorithm>

#include "jobs/base/hash.hpp"

namespace nkigrid::jobs {

PlanExtent extent_of(const Plan& plan) {
  PlanExtent extent;
  for (const auto& cell : plan.cells) extent.cells.push_back({cell.id, cell.tasks, cell.replicates});
  return extent;
}

std::string grid_hash(const Plan& plan) {
  std::vector<std::string_view> keys;
  for (const auto& key : plan.keys) {
    if (!key.empty()) keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  Sha256 hash;
  for (const auto key : keys) hash.field(key);
  return hash.hex();
}

}  // namespace nkigrid::jobs
