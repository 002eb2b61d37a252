#include "jobs/dealing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fixture.hpp"
#include "jobs/base/draws.hpp"
#include "jobs/base/error.hpp"
#include "jobs/element_lanes.hpp"
#include "jobs/forecast/costs.hpp"
#include "jobs/forecast/layouts.hpp"
#include "jobs/forecast/simulation.hpp"
#include "jobs/make_plan.hpp"
#include "jobs/run_directory.hpp"

namespace nkigrid::jobs {
namespace {

/// `cells` x `tasks` x `replicates` by hand, with an expected cost for each (cell, task) drawn from a heavy-tailed
/// distribution.
struct Work {
  Grid grid;
  Plan plan;
  CostTable costs;

  Work(std::uint32_t cells, std::uint32_t tasks, std::uint32_t replicates, double sigma = 1.0) {
    grid.models.push_back({.name = "m", .api = OpenAi{}});
    for (std::uint32_t c = 0; c < cells; ++c)
      plan.cells.push_back({.id = "m.s.p" + std::to_string(c), .model = "m", .mode = "s", .prompt = "p"});
    grid.cells = plan.cells;
    grid.slurm.cpus_per_rank = 64;  // cores enough, where a test does not say otherwise
    for (std::uint32_t t = 0; t < tasks; ++t) plan.tasks.push_back({"L1/" + std::to_string(t), "L1", "c"});
    plan.keys.assign(std::size_t{cells} * tasks, "0123456789abcdef");
    Draws draws(7);
    for (std::size_t i = 0; i < plan.keys.size(); ++i)
      costs.costs.push_back({.seconds = 100 * std::exp(sigma * 2 * (draws.uniform() + draws.uniform() - 1))});
    costs.tasks = tasks;
    costs.factors = {0.5, 0.75, 1.0, 1.75};
    costs.endpoint_share.assign(cells, 0.8);
    for (std::uint32_t c = 0; c < cells; ++c) {
      for (std::uint32_t t = 0; t < tasks; ++t) {
        for (std::uint32_t r = 1; r <= replicates; ++r) plan.episodes.push_back({c, t, r, 0});
      }
    }
  }
  std::vector<double> seconds() const {
    std::vector<double> all;
    for (const auto& cost : costs.costs) all.push_back(cost.seconds);
    return all;
  }
  SimulatedRun simulate(const Layout& layout) const { return RunSimulator(grid, plan, costs, 1).simulate(layout); }
};

TEST(ShardSpreader, CountsDifferByOneAndWorkByLessThanOneEpisode) {
  for (const std::uint32_t shards : {1U, 3U, 8U, 64U}) {
    Work work(5, 20, 7);
    work.plan.shards = shards;
    deal_shards(work.plan, work.seconds(), {});
    std::vector<double> loads(shards);
    std::vector<int> counts(shards);
    double longest = 0;
    for (const auto& episode : work.plan.episodes) {
      loads[episode.shard] += work.costs.at(episode).seconds;
      ++counts[episode.shard];
      longest = std::max(longest, work.costs.at(episode).seconds);
    }
    const auto [few, many] = std::minmax_element(counts.begin(), counts.end());
    const auto [light, heavy] = std::minmax_element(loads.begin(), loads.end());
    EXPECT_LE(*many - *few, 1);
    EXPECT_LT(*heavy - *light, longest) << shards;
  }
}

TEST(Dealing, LearntCostsComeBeforeThePrior) {
  const Sandbox box;
  const auto grid = load_grid(box.grid(), {});
  CostModel costs;
  costs.seconds.task["L1/001_add"] = 9;  // far above what its level promises
  costs.episodes = 1;
  const auto plan = make_plan(grid, load_benchmark(grid.benchmark), {}, costs);
  const auto order = dealing_order(plan, expected_seconds(grid, plan, costs), std::nullopt);
  EXPECT_EQ(plan.tasks[plan.episodes[order[0]].task].id, "L1/001_add");
}

TEST(Costs, AreFrozenWithTheRunAndKeptWhenItGrows) {
  const Sandbox box;
  CostModel costs;
  costs.seconds.task["L1/001_add"] = 2;
  costs.seconds.noise = {-0.5, 0.5};
  costs.episodes = 12;
  costs.runs = {"old"};
  const auto freeze = [&](const CostModel& with) {
    const auto grid = load_grid(box.grid(), {});
    return freeze_run(grid, load_benchmark(grid.benchmark), box.path() / "RUN", with);
  };
  const auto run = freeze(costs);
  EXPECT_EQ(to_json(run.costs), to_json(costs));
  box.edit("grid.yaml", "replicates: 2", "replicates: 5");
  costs.seconds.task["L1/001_add"] = -2;
  const auto grown = freeze(costs);
  EXPECT_EQ(grown.costs.seconds.task.at("L1/001_add"), 2);
  for (const auto& was : run.plan.episodes) {
    const auto now = std::find_if(grown.plan.episodes.begin(), grown.plan.episodes.end(), [&](const auto& e) {
      return e.cell == was.cell && e.task == was.task && e.replicate == was.replicate;
    });
    EXPECT_EQ(now->shard, was.shard);
  }
}

TEST(Costs, ADamagedCostFileIsNamed) {
  const std::string whole = to_json(CostModel{});
  EXPECT_EQ(costs_from_json(whole, "f").episodes, 0U);
  for (std::size_t n = 0; n + 2 < whole.size(); n += 7) {
    try {
      costs_from_json(whole.substr(0, n), "RUN/plan/costs.json");
      FAIL() << n;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::corrupt);
      EXPECT_NE(std::string(error.what()).find("RUN/plan/costs.json"), std::string::npos);
    }
  }
}

TEST(Simulation, OneLaneTakesTheSumAndEnoughLanesTheLongest) {
  Work work(2, 3, 4);
  work.costs.factors = {1.0};
  double sum = 0, longest = 0;
  for (const auto& episode : work.plan.episodes) {
    sum += work.costs.at(episode).seconds;
    longest = std::max(longest, work.costs.at(episode).seconds);
  }
  const auto one = work.simulate({.shards = 1});
  EXPECT_NEAR(one.makespan, sum + 24 * kDealSeconds + kElementSeconds, 1e-3);
  EXPECT_NEAR(one.ideal, sum, 1e-3);
  EXPECT_NEAR(work.simulate({.shards = 1, .lanes = 24}).makespan, longest + kDealSeconds + kElementSeconds, 1e-3);
}

TEST(Simulation, AThrottleRunsElementsInTurns) {
  Work work(2, 10, 4);
  work.costs.factors = {1.0};
  const auto free = work.simulate({.shards = 8, .lanes = 2});
  const auto throttled = work.simulate({.shards = 8, .throttle = 2, .lanes = 2});
  EXPECT_NEAR(throttled.makespan, 4 * free.makespan, 0.1 * throttled.makespan);
  EXPECT_DOUBLE_EQ(throttled.node_seconds, free.node_seconds);
}

TEST(Simulation, AnEndpointsConcurrencyIsTheFloorAndIsNamed) {
  Work work(2, 10, 40);
  work.grid.models[0].concurrency = 2;
  const auto run = work.simulate({.shards = 1, .lanes = 64});
  EXPECT_EQ(run.limited_by, "m");
  EXPECT_NEAR(run.makespan, 0.8 * RunSimulator(work.grid, work.plan, work.costs, 1).work() / 2 + kElementSeconds, 1.0);
}

TEST(Simulation, ElementsAtOnceShareAnEndpointsConcurrency) {
  Work work(2, 10, 40);
  work.grid.models[0].concurrency = 8;
  const auto one = work.simulate({.shards = 1, .lanes = 64}), four = work.simulate({.shards = 4, .lanes = 64});
  EXPECT_EQ(four.limited_by, "m");
  EXPECT_NEAR(four.makespan, one.makespan, 0.06 * one.makespan) << "four elements get no more requests than one";
}

TEST(Simulation, LanesThatANodesCoresDoNotBearChangeNothing) {
  Work work(2, 10, 40);
  work.costs.endpoint_share.assign(2, 0.5);
  work.grid.slurm.cpus_per_rank = 4;
  const double compute = 0.5 * RunSimulator(work.grid, work.plan, work.costs, 1).work();
  const auto few = work.simulate({.shards = 1, .lanes = 4}), enough = work.simulate({.shards = 1, .lanes = 8}),
             many = work.simulate({.shards = 1, .lanes = 32});
  EXPECT_NEAR(few.cores_busy, 0.5, 0.02);
  EXPECT_NEAR(few.makespan, 2 * enough.makespan, 0.05 * few.makespan);
  EXPECT_NEAR(many.makespan, compute / 4, 0.05 * many.makespan);
  EXPECT_NEAR(many.ideal, compute / 4, 1.0);
  EXPECT_GT(many.cores_busy, 0.95);
}

TEST(Simulation, WhatWasLearntOnBusyCoresIsForecastToTakeTheSameThere) {
  Work work(2, 10, 40);
  work.costs.endpoint_share.assign(2, 0.2);
  work.grid.slurm.cpus_per_rank = 1;
  work.grid.lanes = 4;
  work.costs.learnt = true;
  const auto own = layout_of(work.grid);
  const auto learnt = work.simulate(own);
  work.grid.slurm.cpus_per_rank = 64;
  work.costs.learnt = false;
  EXPECT_NEAR(learnt.makespan, work.simulate(own).makespan, 0.03 * learnt.makespan);
}

TEST(ElementLanes, EpisodesThatWantOneCoreShareIt) {
  ElementLanes lanes(1, 2, 1.0);
  lanes.run(10, 1.0);
  lanes.run(4, 1.0);
  EXPECT_DOUBLE_EQ(lanes.finish(), 14) << "the short one ends at 8, at half speed; then the long one is alone";
  EXPECT_DOUBLE_EQ(lanes.core_seconds(), 14);
  EXPECT_DOUBLE_EQ(lanes.busy(), 22);
}

TEST(ElementLanes, WaitsNeedNoCore) {
  ElementLanes waits(1, 8, 1.0), halves(1, 2, 1.0);
  for (int i = 0; i < 8; ++i) waits.run(10, 0.0);
  for (int i = 0; i < 2; ++i) halves.run(10, 0.5);
  EXPECT_DOUBLE_EQ(waits.finish(), 10);
  EXPECT_DOUBLE_EQ(halves.finish(), 10);
}

TEST(ElementLanes, EachNodeHasItsOwnCoresAndTheNextEpisodeGoesWhereALaneIsFree) {
  ElementLanes lanes(2, 1, 1.0);
  for (const double seconds : {6.0, 1.0, 2.0, 3.0, 4.0}) lanes.run(seconds, 1.0);
  EXPECT_DOUBLE_EQ(lanes.finish(), 10) << "1, 2 and 3 on one node; 4 goes to whichever is free at 6";
}

TEST(Simulation, AMillionEpisodesOn1024RanksEndWithinTwoPercentOfIdeal) {
  const Work work(40, 100, 250);
  const auto run = work.simulate({.shards = 32, .ranks_per_node = 32});  // a trn1.32xlarge has 32 NeuronCores
  EXPECT_LE(run.makespan / run.ideal, 1.02);
  EXPECT_GE(run.makespan / run.ideal, 1.0);
}

TEST(Layouts, TheCheapestOfTheFastIsRecommended) {
  const std::vector<LayoutResult> results = {
      {{.shards = 1}, {.makespan = 100, .longest_element = 100, .node_seconds = 100}},
      {{.shards = 2}, {.makespan = 51, .longest_element = 51, .node_seconds = 103}},
      {{.shards = 4}, {.makespan = 50, .longest_element = 50, .node_seconds = 150}}};
  EXPECT_EQ(recommend(results, 1000).index, 1U);
  EXPECT_EQ(recommend(results, 50).index, 2U);
  const auto none = recommend(results, 10);
  EXPECT_EQ(none.index, 2U);
  EXPECT_NE(none.reason.find("time limit"), std::string::npos);
}

TEST(Layouts, ChoicesAreCombinedAndTheGridsOwnComesFirst) {
  const Layout own{.shards = 4, .nodes = 1, .ranks_per_node = 2, .lanes = 3};
  const auto layouts = layouts_to_try(own, {.shards = {4, 8}, .throttles = {0, 2}, .ranks_per_node = {}, .lanes = {}});
  ASSERT_EQ(layouts.size(), 4U);
  EXPECT_EQ(layouts[0], own);
  for (const auto& layout : layouts) EXPECT_EQ(layout.lanes, 3U);
  EXPECT_EQ(layouts_to_try(own, {}).size(), 7U) << "an odd number of lanes is not halved";
}

}  // namespace
}  // namespace nkigrid::jobs
