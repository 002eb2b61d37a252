#include "jobs/dealing.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "jobs/base/draws.hpp"
#include "jobs/base/hash.hpp"

namespace nkigrid::jobs {
namespace {

/// A number for each episode that depends on its id alone: H(purpose, cell, task) keys a stream, the
/// replicate is the place in it.
std::vector<std::uint64_t> episode_ranks(const Plan& plan, std::string_view purpose) {
  std::vector<std::uint64_t> ranks(plan.episodes.size());
  Draws stream(0);
  std::uint32_t cell = std::numeric_limits<std::uint32_t>::max(), task = cell;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto& episode = plan.episodes[i];  // in the order cell, task, replicate
    if (episode.cell != cell || episode.task != task) {
      cell = episode.cell;
      task = episode.task;
      stream = Draws(keyed_hash({purpose, plan.cells[cell].id, plan.tasks[task].id}));
    }
    ranks[i] = stream.bits();
  }
  return ranks;
}

/// Which episodes of the plan an extent held.
std::vector<bool> held_by(const PlanExtent& extent, const Plan& plan) {
  std::unordered_map<std::string_view, const PlanExtent::Cell*> cells;
  for (const auto& cell : extent.cells) cells.emplace(cell.id, &cell);
  std::vector<bool> held(plan.episodes.size());
  for (std::size_t i = 0; i < held.size(); ++i) {
    const auto& episode = plan.episodes[i];
    const auto at = cells.find(plan.cells[episode.cell].id);
    if (at == cells.end() || episode.replicate > at->second->replicates) continue;
    const auto& tasks = at->second->tasks;
    held[i] = std::binary_search(tasks.begin(), tasks.end(), plan.tasks[episode.task].id);
  }
  return held;
}

/// Prior cost of an episode: turns times level. L2 fuses several operations and L3 is a part of a model, so
/// later levels take longer.
std::uint64_t prior_cost(const Plan& plan, const Grid& grid, const PlannedEpisode& episode) {
  const auto& level = plan.tasks[episode.task].level;
  const std::uint64_t weight = !level.empty() && level.back() >= '1' && level.back() <= '9'
                                   ? static_cast<std::uint64_t>(level.back() - '0')
                                   : 1;
  return weight * grid.mode(plan.cells[episode.cell].mode).turns;
}

}  // namespace

void deal_shards(Plan& plan, std::span<const PlanExtent> grown_from) {
  const auto ranks = episode_ranks(plan, "shard");
  std::vector<bool> dealt(plan.episodes.size());
  std::uint64_t next = 0;
  const auto deal = [&](auto&& wanted) {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < dealt.size(); ++i) {
      if (!dealt[i] && wanted(i)) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return ranks[a] != ranks[b] ? ranks[a] < ranks[b] : a < b;
    });
    for (const auto i : order) {
      plan.episodes[i].shard = static_cast<std::uint32_t>(next++ % plan.shards);
      dealt[i] = true;
    }
  };
  for (const auto& extent : grown_from) {
    const auto held = held_by(extent, plan);
    deal([&](std::uint32_t i) { return held[i]; });
  }
  deal([](std::uint32_t) { return true; });
}

std::vector<std::uint32_t> dealing_order(const Plan& plan, const Grid& grid, std::optional<ShardId> shard) {
  const auto ranks = episode_ranks(plan, "deal");
  std::vector<std::uint32_t> order;
  std::vector<std::uint64_t> costs(plan.episodes.size());
  for (std::uint32_t i = 0; i < plan.episodes.size(); ++i) {
    if (shard && plan.episodes[i].shard != shard->value) continue;
    costs[i] = prior_cost(plan, grid, plan.episodes[i]);
    order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (costs[a] != costs[b]) return costs[a] > costs[b];
    return ranks[a] != ranks[b] ? ranks[a] < ranks[b] : a < b;
  });
  return order;
}

}  // namespace nkigrid::jobs
