#include "jobs/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "fixture.hpp"
#include "jobs/dealing.hpp"
#include "jobs/make_plan.hpp"

namespace nkigrid::jobs {
namespace {

Plan plan_of(const Sandbox& box, std::span<const PlanExtent> grown_from = {}) {
  const auto grid = load_grid(box.grid(), {});
  return make_plan(grid, load_benchmark(grid.benchmark), grown_from);
}

std::map<std::string, std::uint32_t> shards_of(const Plan& plan) {
  std::map<std::string, std::uint32_t> shards;
  for (const auto& episode : plan.episodes) shards[to_string(plan.id_of(episode))] = episode.shard;
  return shards;
}

std::vector<std::size_t> shard_sizes(const Plan& plan) {
  std::vector<std::size_t> sizes(plan.shards);
  for (const auto& episode : plan.episodes) ++sizes.at(episode.shard);
  return sizes;
}

void expect_balanced(const Plan& plan) {
  const auto sizes = shard_sizes(plan);
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  EXPECT_LE(*most - *least, 1U);
}

TEST(Plan, HoldsEveryEpisodeOnceInOrder) {
  const Sandbox box;
  const auto plan = plan_of(box);
  ASSERT_EQ(plan.episodes.size(), 4U * 4U * 2U);
  EXPECT_EQ(to_string(plan.id_of(plan.episodes[0])), "weak.ss.careful/L1/001_add#1");
  EXPECT_EQ(to_string(plan.id_of(plan.episodes[1])), "weak.ss.careful/L1/001_add#2");
  EXPECT_EQ(to_string(plan.id_of(plan.episodes[31])), "strong.agent.careful/L3/001_softmax_norm#2");
  EXPECT_EQ(shards_of(plan).size(), plan.episodes.size());
  EXPECT_EQ(plan.tasks[2].level, "L2");
  EXPECT_EQ(plan.tasks[2].category, "fused");
}

TEST(Plan, ShardsAreBalancedWithinOneEpisode) {
  for (const int shards : {1, 3, 5, 31, 40}) {
    const Sandbox box;
    box.edit("grid.yaml", "shards: 3", "shards: " + std::to_string(shards));
    expect_balanced(plan_of(box));
  }
}

TEST(Plan, ShardsDoNotDependOnTheOrderInTheFile) {
  const Sandbox box, other;
  other.edit("grid.yaml", "model: [weak, strong], mode: [ss, agent]", "model: [strong, weak], mode: [agent, ss]");
  EXPECT_EQ(shards_of(plan_of(box)), shards_of(plan_of(other)));
}

TEST(Plan, ShardsAreDecorrelatedFromTasksAndReplicates) {
  // 4 tasks x 4 cells x 600 replicates over 4 shards. Independent dealing gives each (task, shard) 600 on
  // average with a standard deviation of sqrt(2400 x 1/4 x 3/4) = 21; replicate order shows as a share of
  // neighbours in one shard: 1/4 +- 0.0045.
  const Sandbox box;
  box.edit("grid.yaml", "replicates: 2", "replicates: 600");
  box.edit("grid.yaml", "shards: 3", "shards: 4");
  const auto plan = plan_of(box);
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> counts;
  double neighbours = 0, same = 0;
  for (std::size_t i = 0; i < plan.episodes.size(); ++i) {
    ++counts[{plan.episodes[i].task, plan.episodes[i].shard}];
    if (i == 0 || plan.episodes[i].replicate == 1) continue;
    ++neighbours;
    same += plan.episodes[i].shard == plan.episodes[i - 1].shard;
  }
  for (const auto& [at, count] : counts)
    EXPECT_NEAR(count, 600, 5 * 21) << "task " << at.first << " shard " << at.second;
  EXPECT_NEAR(same / neighbours, 0.25, 5 * 0.0045);
}

TEST(Plan, GrowthKeepsTheShardsOfWhatWasThere) {
  const Sandbox box;
  const auto before = plan_of(box);
  const std::vector<PlanExtent> extents = {extent_of(before)};
  box.edit("grid.yaml", "replicates: 2", "replicates: 5");
  box.edit("grid.yaml", "prompt: careful", "prompt: [careful, plain]");
  const auto after = plan_of(box, extents);
  const auto old_shards = shards_of(before);
  const auto new_shards = shards_of(after);
  for (const auto& [id, shard] : old_shards) EXPECT_EQ(new_shards.at(id), shard) << id;
  EXPECT_EQ(new_shards.size(), 8U * 4U * 5U);
  expect_balanced(after);
}

TEST(Plan, KeysAreSixteenHexDigitsAndEmptyWhereACellHasNotTheTask) {
  const Sandbox box;
  box.edit("grid.yaml", "  - {model: [weak, strong], mode: [ss, agent], prompt: careful}",
           "  - {model: weak, mode: ss, prompt: careful, tasks: ones}\n  - {model: weak, mode: agent, "
           "prompt: careful, tasks: mixed}");
  const auto plan = plan_of(box);
  ASSERT_EQ(plan.tasks.size(), 3U);
  EXPECT_THAT(plan.key(0, 0), testing::MatchesRegex("[0-9a-f]{16}"));
  EXPECT_EQ(plan.key(0, 2), "");
  EXPECT_EQ(plan.key(1, 1), "");
  EXPECT_NE(plan.key(0, 0), plan.key(1, 0));
}

TEST(Dealing, LongestFirstThenAKeyedOrder) {
  const Sandbox box;
  const auto grid = load_grid(box.grid(), {});
  const auto plan = make_plan(grid, load_benchmark(grid.benchmark));
  const auto order = dealing_order(plan, expected_seconds(grid, plan, {}), std::nullopt);
  ASSERT_EQ(order.size(), plan.episodes.size());
  EXPECT_EQ(std::set<std::uint32_t>(order.begin(), order.end()).size(), order.size());
  std::uint32_t last = 1000;
  for (const auto i : order) {
    const auto& episode = plan.episodes[i];
    const auto cost = grid.mode(plan.cells[episode.cell].mode).turns *
                      static_cast<std::uint32_t>(plan.tasks[episode.task].level[1] - '0');
    EXPECT_LE(cost, last);
    last = cost;
  }
  EXPECT_FALSE(std::is_sorted(order.begin(), order.begin() + 4))
      << "four L3 agent episodes of one model come in plan order";
}

TEST(Dealing, AShardsOrderHoldsItsEpisodesOnly) {
  const Sandbox box;
  const auto grid = load_grid(box.grid(), {});
  const auto plan = make_plan(grid, load_benchmark(grid.benchmark));
  std::set<std::uint32_t> all;
  for (std::uint32_t shard = 0; shard < 3; ++shard) {
    for (const auto i : dealing_order(plan, expected_seconds(grid, plan, {}), ShardId{shard})) {
      EXPECT_EQ(plan.episodes[i].shard, shard);
      all.insert(i);
    }
  }
  EXPECT_EQ(all.size(), plan.episodes.size());
}

}  // namespace
}  // namespace nkigrid::jobs
