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

}  // namespace

std::vector<std::uint32_t> longest_first(const Plan& plan, std::span<const double> seconds, std::string_view purpose) {
  struct Place {
    double seconds;
    std::uint64_t rank;
    std::uint32_t episode;
  };
  const auto ranks = episode_ranks(plan, purpose);
  std::vector<Place> places(plan.episodes.size());
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    const auto& episode = plan.episodes[i];
    places[i] = {seconds[episode.cell * plan.tasks.size() + episode.task], ranks[i], i};
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    if (a.seconds != b.seconds) return a.seconds > b.seconds;
    return a.rank != b.rank ? a.rank < b.rank : a.episode < b.episode;
  });
  std::vector<std::uint32_t> order(places.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = places[i].episode;
  return order;
}

ShardSpreader::ShardSpreader(std::uint32_t shards) : loads_(shards) {}

std::uint32_t ShardSpreader::next(double seconds) {
  if (round_.empty()) {
    round_.resize(loads_.size());
    std::iota(round_.begin(), round_.end(), 0U);
    std::sort(round_.begin(), round_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return loads_[a] != loads_[b] ? loads_[a] > loads_[b] : a > b; });
  }
  const auto shard = round_.back();
  round_.pop_back();
  loads_[shard] += seconds;
  return shard;
}

void deal_shards(Plan& plan, std::span<const double> seconds, std::span<const PlanExtent> grown_from) {
  const auto order = longest_first(plan, seconds, "shard");
  std::vector<bool> dealt(plan.episodes.size());
  ShardSpreader spreader(plan.shards);
  const auto deal = [&](auto&& wanted) {
    for (const auto i : order) {
      if (dealt[i] || !wanted(i)) continue;
      auto& episode = plan.episodes[i];
      episode.shard = spreader.next(seconds[episode.cell * plan.tasks.size() + episode.task]);
      dealt[i] = true;
    }
  };
  for (const auto& extent : grown_from) {
    const auto held = held_by(extent, plan);
    deal([&](std::uint32_t i) { return held[i]; });
  }
  deal([](std::uint32_t) { return true; });
}

std::vector<std::uint32_t> dealing_order(const Plan& plan, std::span<const double> seconds,
                                         std::optional<ShardId> shard) {
  auto order = longest_first(plan, seconds, "deal");
  if (shard) std::erase_if(order, [&](std::uint32_t i) { return plan.episodes[i].shard != shard->value; });
  return order;
}

}  // namespace nkigrid::jobs
