#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "aggregate/statistics/adjustment.hpp"
#include "aggregate/tables/ablation.hpp"
#include "aggregate/tables/cells.hpp"
#include "aggregate/tables/method_pairs.hpp"
#include "aggregate/tables/pairs.hpp"
#include "aggregate/tables/replicates.hpp"
#include "aggregate/tables/warnings.hpp"
#include "tests/aggregate/made_run.hpp"

// Right values: ../independent_values.py.
namespace nkigrid::aggregate {
namespace {

using test::ended, test::made_run, test::made_tasks, test::number_of;
using testing::Contains, testing::HasSubstr, testing::Not;

// As two seeds give it, where the second ran the first ten tasks only: 9 replicates of these, one of the other ten.
test::MadeRun unequal_run(const test::Verdict& verdict) {
  auto made = made_run({"m.ss.p", "n.ss.p"}, made_tasks("L1", 20), 9, verdict);
  auto& plan = made.run.plan;
  for (std::size_t i = plan.episodes.size(); i-- > 0;) {
    if (plan.episodes[i].replicate == 1 || number_of(plan.id_of(plan.episodes[i])) < 10) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    plan.episodes.erase(plan.episodes.begin() + at);
    made.ledger.ends.erase(made.ledger.ends.begin() + at);
    made.ledger.states.erase(made.ledger.states.begin() + at);
  }
  made.run.grid.contrasts = {{"n-vs-m", {{"model", "n"}}, {{"model", "m"}}, {"all"}}};
  return made;
}

// m: 7 of 9 on task 0, all of tasks 1 to 9, 10 and 15. n: 7 of 9 on task 0 and no more.
std::optional<log::End> mixed_verdict(const EpisodeId& id) {
  const int task = number_of(id);
  if (task == 0) return ended(id.replicate <= 7);
  return ended(id.cell == "m.ss.p" && (task < 10 || task % 5 == 0));
}

TEST(TaskWeights, OfUnequalReplicatesAreAlikeInEveryTable) {
  const auto made = unequal_run(mixed_verdict);
  const auto evidence = evidence_of(made.run, made.ledger);
  const auto& total = evidence.once(make_cells)[0].total;
  EXPECT_EQ(total.passed, 90u);
  EXPECT_EQ(total.episodes, 100u);
  EXPECT_NEAR(*total.rate, 0.5888888888888889, 1e-15);
  EXPECT_EQ(total.interval->method, "wilson-eff");
  EXPECT_NEAR(total.interval->low, 0.3796827838479772, 1e-9);
  EXPECT_NEAR(total.interval->high, 0.7702357517076444, 1e-9);
  EXPECT_EQ(evidence.once(make_cells)[0].levels[0].rate.rate, total.rate);
  EXPECT_NEAR(*evidence.once(make_pairs).at(0).difference, *evidence.once(make_cells)[1].total.rate - *total.rate,
              1e-15);
  EXPECT_EQ(evidence.once(make_ablation).at(0).rate, total.rate);
  EXPECT_THAT(evidence.once(make_warnings),
              Contains(HasSubstr("replicates differ between tasks; rates weigh each task alike")));
}

TEST(TaskWeights, WilsonTakesTheWeighedRateAndTheTasks) {
  const auto made = unequal_run(mixed_verdict);
  const auto total = make_cells(evidence_of(made.run, made.ledger))[1].total;
  EXPECT_NEAR(*total.rate, 0.03888888888888889, 1e-15);
  EXPECT_NEAR(total.interval->low, 0.006429892183676965, 1e-9);
  EXPECT_NEAR(total.interval->high, 0.20190730638876425, 1e-9);
}

TEST(TaskWeights, BoundsHoldWhateverRateComesOfIt) {
  auto made = unequal_run(mixed_verdict);
  const auto whole = *make_cells(evidence_of(made.run, made.ledger))[0].total.rate;
  made.ledger.ends[0].reset();  // task 0, a pass
  const auto row = make_cells(evidence_of(made.run, made.ledger))[0].total;
  EXPECT_FALSE(row.rate);
  EXPECT_NEAR(row.bounds->low, whole - 1.0 / 9 / 20, 1e-15);
  EXPECT_NEAR(row.bounds->high, whole, 1e-15);
}

TEST(TaskWeights, EqualReplicatesAreOneDivisionAndNoWarning) {
  const auto made = made_run({"m.ss.p"}, made_tasks("L1", 21), 3,
                             [](const auto& id) { return ended(number_of(id) % 4 < static_cast<int>(id.replicate)); });
  const auto evidence = evidence_of(made.run, made.ledger);
  const auto& total = evidence.once(make_cells)[0].total;
  EXPECT_EQ(*total.rate, static_cast<double>(total.passed) / 63);
  EXPECT_THAT(evidence.once(make_warnings), Not(Contains(HasSubstr("replicates differ"))));
}

void expect_same(const Interval& a, const Interval& b) {
  EXPECT_EQ(a.method, b.method);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
}

TEST(PassAtOne, HasTheIntervalOfTheRate) {
  const auto one =
      made_run({"m.ss.p"}, made_tasks("L1", 24), 1, [](const auto& id) { return ended(number_of(id) % 3 == 0); });
  const auto many = unequal_run(mixed_verdict);
  for (const auto* made : {&one, &many}) {
    for (const bool exact_binomial : {false, true}) {
      const auto evidence =
          evidence_of(made->run, made->ledger,
                      {.intervals = exact_binomial ? RateIntervals::clopper_pearson : RateIntervals::by_rule});
      const auto& at = evidence.once(make_replicates)[0].pass_at[0];
      EXPECT_EQ(at.any, *evidence.once(make_cells)[0].total.rate);
      EXPECT_EQ(at.all, at.any);
      expect_same(at.any_interval, *evidence.once(make_cells)[0].total.interval);
      expect_same(at.all_interval, *evidence.once(make_cells)[0].total.interval);
    }
  }
  EXPECT_EQ(make_replicates(evidence_of(one.run, one.ledger))[0].pass_at[0].any_interval.method, "wilson");
}

TEST(ShareOfTasks, IsNothingWhereNothingVaries) {
  const auto made = made_run({"m.ss.p"}, made_tasks("L1", 8), 3, [](const auto&) { return ended(true); });
  const auto row = make_replicates(evidence_of(made.run, made.ledger))[0];
  ASSERT_TRUE(row.variance);
  EXPECT_FALSE(row.variance->share_of_tasks());
}

// n tasks of two replicates, the first half of them passed; `flips` tasks pass once.
std::vector<TaskCount> flipped(std::uint32_t flips) {
  std::vector<TaskCount> tasks;
  for (std::uint32_t i = 0; i < 120; ++i) tasks.push_back({i < flips ? 1u : i % 2 ? 2u : 0u, 2, 0});
  return tasks;
}

TEST(RunToRun, AFlipDoesNotNarrowIt) {
  const auto none = *run_to_run_interval(flipped(0), 0.95);
  EXPECT_EQ(none.method, "wilson");
  EXPECT_NEAR(none.low, 0.43724268978525527, 1e-12);
  for (const std::uint32_t flips : {1u, 2u, 4u, 5u}) {
    const auto some = *run_to_run_interval(flipped(flips), 0.95);
    EXPECT_EQ(some.method, "wilson") << flips;
    EXPECT_NEAR(some.high - some.low, none.high - none.low, 1e-4) << flips;
  }
  EXPECT_EQ(run_to_run_interval(flipped(6), 0.95)->method, "run-to-run");
}

TEST(RunToRun, CoversWhereFewTasksVary) {
  std::mt19937_64 random(20260705);  // its sequence is fixed by the standard
  struct Design {
    std::uint32_t tasks, replicates;
    double chance;
  };
  for (const auto& design : {Design{150, 2, 0.01}, {24, 3, 0.01}, {24, 3, 0.05}, {60, 2, 0.02}, {60, 3, 0.98}}) {
    int covered = 0;
    std::vector<TaskCount> tasks(design.tasks);
    for (int round = 0; round < 2000; ++round) {
      for (auto& task : tasks) {
        task = {0, design.replicates, 0};
        for (std::uint32_t k = 0; k < design.replicates; ++k)
          task.passed += std::generate_canonical<double, 53>(random) < design.chance;
      }
      const auto interval = *run_to_run_interval(tasks, 0.95);
      covered += interval.low <= design.chance && design.chance <= interval.high;
    }
    EXPECT_GE(covered, 2000 * 0.925) << design.tasks << " x " << design.replicates << " at " << design.chance;
  }
}

TEST(Family, WhatIsOnlyLookedAtLeavesTheDeclaredContrastsAlone) {
  auto made = made_run({"m.ss.p", "m.agent.p"}, made_tasks("L1", 40), 1, [](const auto& id) {
    return ended(number_of(id) % 4 == 0 || (id.cell == "m.agent.p" && number_of(id) < 20));
  });
  made.run.grid.contrasts = {{"tools", {{"mode", "agent"}}, {{"mode", "ss"}}, {"all"}}};
  const auto plain = make_pairs(evidence_of(made.run, made.ledger));
  const auto more = make_pairs(evidence_of(made.run, made.ledger, {.by = ScopesBy::category}));
  ASSERT_EQ(plain.size(), 1u);
  ASSERT_EQ(more.size(), 3u);
  EXPECT_EQ(more[0].family, "contrasts");
  EXPECT_EQ(*more[0].p_holm, *plain[0].p_holm);
  EXPECT_EQ(*more[0].p_holm, *more[0].p);
  EXPECT_EQ(more[1].family, "by-category");
  EXPECT_EQ(more[2].family, "by-category");
  const auto own = holm(std::vector<double>{*more[1].p, *more[2].p}, 2);
  EXPECT_DOUBLE_EQ(*more[1].p_holm, own[0]);
  EXPECT_DOUBLE_EQ(*more[2].p_holm, own[1]);
}

TEST(Family, OfMethodsCountsRowsThatHaveATest) {
  auto made = made_run(
      {"a1.ss.p", "a2.ss.p", "b.ss.p", "a1.agent.p", "b.agent.p"}, made_tasks("L1", 20), 1, [](const auto& id) {
        return ended((number_of(id) * 7 + id.cell[1] * 3 + id.cell[0]) % 5 < (id.cell[0] == 'a' ? 3 : 1));
      });
  for (auto& model : made.run.grid.models) {
    if (model.name[0] == 'a') model.method = "a";
  }
  const auto pairs = make_method_pairs(evidence_of(made.run, made.ledger));
  ASSERT_EQ(pairs.size(), 2u);  // in ss two checkpoints against one; with agent one against one
  ASSERT_TRUE(pairs[0].p);
  EXPECT_FALSE(pairs[1].p);
  EXPECT_EQ(pairs[1].test, "");
  EXPECT_EQ(*pairs[0].p_holm, *pairs[0].p);
}

}  // namespace
}  // namespace nkigrid::aggregate
