#include "aggregate/statistics/level_scatter.hpp"

#include <cmath>
#include <numeric>

#include "aggregate/statistics/limits.hpp"

namespace nkigrid::aggregate {
namespace {

void append(std::vector<double>& group, const std::vector<double>& more) {
  group.insert(group.end(), more.begin(), more.end());
}

LevelValues without_small(const LevelValues& levels) {
  LevelValues groups;
  for (const auto& level : levels) {
    if (!groups.empty() && groups.back().size() < kLeastLevel)
      append(groups.back(), level);
    else
      groups.push_back(level);
  }
  if (groups.size() > 1 && groups.back().size() < kLeastLevel) {
    append(groups[groups.size() - 2], groups.back());
    groups.pop_back();
  }
  return groups;
}

}  // namespace

double scatter_within_levels(const LevelValues& levels) {
  double total = 0;
  for (const auto& group : without_small(levels)) {
    const auto n = static_cast<double>(group.size());
    if (group.size() < 2) continue;
    const double mean = std::accumulate(group.begin(), group.end(), 0.0) / n;
    double squares = 0;
    for (const auto value : group) squares += (value - mean) * (value - mean);
    total += n / (n - 1) * squares;
  }
  return total;
}

}  // namespace nkigrid::aggregate
