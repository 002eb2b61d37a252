#include <gtest/gtest.h>
#include <cmath>

#include "aggregate/tables/power_plan.hpp"
#include "tests/aggregate/made_run.hpp"

namespace nkigrid::aggregate {
namespace {

using test::ended, test::join, test::made_run, test::made_tasks, test::number_of;

test::MadeRun pilot_run(std::uint32_t replicates) {
  auto made = made_run({"m.ss.p", "m.agent.p", "n.ss.p"}, made_tasks("L1", 40), replicates, [](const EpisodeId& id) {
    const int i = number_of(id), k = static_cast<int>(id.replicate), shift = id.cell == "m.agent.p" ? 2 : 0;
    return ended((i * 7 + k * 3 + shift * k) % 11 < 4 + shift);
  });
  made.run.grid.contrasts = {{"tools", {{"mode", "agent"}}, {{"mode", "ss"}}, {"all"}},
                             {"n-vs-m", {{"model", "n"}}, {{"model", "m"}}, {"all"}}};
  return made;
}

TEST(PowerPlan, TakesVariancesFromThePilotsCells) {
  const auto made = pilot_run(4);
  const ReadRun pilot{made.run, made.ledger};
  const auto rows = plan_power(made.run.grid, made.run.plan, &pilot);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].a, "m.agent.p");
  EXPECT_EQ(rows[0].b, "m.ss.p");
  EXPECT_EQ(rows[0].basis, "pilot");
  EXPECT_EQ(rows[0].design.tasks, 40);
  EXPECT_EQ(rows[0].design.replicates_a, 4);
  // sigma^2 of one replicate, by its definition.
  double noise = 0;
  for (int i = 0; i < 40; ++i) {
    double passed = 0;
    for (int k = 1; k <= 4; ++k) passed += (i * 7 + k * 3) % 11 < 4;
    noise += 4.0 / 3 * passed / 4 * (1 - passed / 4) / 40;
  }
  EXPECT_NEAR(rows[0].design.noise_b, noise, 1e-12);
  ASSERT_TRUE(rows[0].smallest && rows[0].smallest_in_family);
  EXPECT_GT(*rows[0].smallest_in_family, *rows[0].smallest);
  EXPECT_LE(rows[0].smallest_ever.value(), *rows[0].smallest);
  EXPECT_GT(rows[0].smallest_ever.value(), 0);
}

// All n tasks that differ one way have a mid-p of 2^-n and an exact p of 2^(1 - n), however often each is repeated.
TEST(PowerPlan, TooFewTasksShowNothingWhateverTheReplicates) {
  const auto of_tasks = [](std::size_t tasks, PValue test) {
    auto made =
        made_run({"m.ss.p", "m.agent.p"}, made_tasks("L1", tasks), 3, [](const EpisodeId&) { return ended(true); });
    made.run.grid.contrasts = {{"tools", {{"mode", "agent"}}, {{"mode", "ss"}}, {"all"}}};
    return plan_power(made.run.grid, made.run.plan, nullptr, {.difference = 0.5, .test = test}).at(0);
  };
  for (const auto& row : {of_tasks(2, PValue::mid), of_tasks(4, PValue::mid), of_tasks(5, PValue::exact)}) {
    EXPECT_FALSE(row.smallest || row.smallest_ever || row.replicates_needed || row.replicates_might_help);
    EXPECT_GT(row.tasks_needed, row.design.tasks);
  }
  EXPECT_TRUE(of_tasks(6, PValue::mid).smallest_ever);
}

TEST(PowerPlan, OneReplicateGivesTheTotalAndNoPilotThePrior) {
  const auto made = pilot_run(1);
  const ReadRun pilot{made.run, made.ledger};
  const auto measured = plan_power(made.run.grid, made.run.plan, &pilot);
  EXPECT_EQ(measured[0].basis, "pilot-total");
  const auto guessed = plan_power(made.run.grid, made.run.plan, nullptr);
  EXPECT_EQ(guessed[0].basis, "prior");
  EXPECT_NEAR(guessed[0].design.between_tasks, 0.16 / 3, 1e-12);
  EXPECT_NEAR(guessed[0].design.noise_a, 0.16 * 2 / 3, 1e-12);
}

TEST(PowerPlan, TheTasksThatItTakesHaveThePower) {
  for (const std::uint32_t replicates : {1u, 3u}) {
    auto made = made_run({"m.ss.p", "m.agent.p"}, made_tasks("L1", 24), replicates,
                         [](const EpisodeId&) { return ended(true); });
    made.run.grid.contrasts = {{"tools", {{"mode", "agent"}}, {{"mode", "ss"}}, {"all"}}};
    const auto row = plan_power(made.run.grid, made.run.plan, nullptr, {.difference = 0.1}).at(0);
    EXPECT_GT(row.tasks_needed, 24u);
    PairPower test({}, {static_cast<std::uint32_t>(row.tasks_needed), replicates, replicates}, {0.05}, 2000);
    EXPECT_NEAR(test.at(0.1)[0], 0.8, 0.03) << row.tasks_needed;
  }
}

// Two levels that differ from each other by more than tasks do inside them.
test::MadeRun levelled_run(std::uint32_t replicates) {
  auto made = made_run({"m.ss.p", "m.agent.p"}, join(made_tasks("L1", 12), made_tasks("L2", 12)), replicates,
                       [](const EpisodeId& id) {
                         const bool second = id.task.starts_with("L2"), agent = id.cell == "m.agent.p";
                         const int chance = (number_of(id) * 5 + static_cast<int>(id.replicate) * 7 + agent * 3) % 12;
                         return ended(chance < (agent && second ? 11 : 2));
                       });
  made.run.grid.contrasts = {{"tools", {{"mode", "agent"}}, {{"mode", "ss"}}, {"all"}}};
  return made;
}

TEST(Pilot, OfOneReplicateTakesTheVarianceWithinLevels) {
  const auto made = levelled_run(1);
  const ReadRun pilot{made.run, made.ledger};
  const auto row = plan_power(made.run.grid, made.run.plan, &pilot).at(0);
  EXPECT_EQ(row.basis, "pilot-total");
  double squares = 0;
  for (const bool second : {false, true}) {
    double sum = 0, square = 0;
    for (int i = 0; i < 12; ++i) {
      const double d = ((i * 5 + 7 + 3) % 12 < (second ? 11 : 2)) - ((i * 5 + 7) % 12 < 2);
      sum += d, square += d * d;
    }
    squares += square - sum * sum / 12;
  }
  EXPECT_NEAR(row.design.between_tasks + row.design.noise_a + row.design.noise_b, squares / 22, 1e-12);
}

TEST(Pilot, AVarianceThatWasCutAtZeroHasABoundAboveIt) {
  // Every task passes one of two replicates in either cell: less scatter than chance gives.
  auto made = made_run({"m.ss.p", "m.agent.p"}, made_tasks("L1", 24), 2, [](const EpisodeId& id) {
    return ended(id.replicate == 1 || (id.cell == "m.agent.p" && number_of(id) % 12 == 0));
  });
  made.run.grid.contrasts = {{"tools", {{"mode", "agent"}}, {{"mode", "ss"}}, {"all"}}};
  const ReadRun pilot{made.run, made.ledger};
  const auto row = plan_power(made.run.grid, made.run.plan, &pilot, {.difference = 0.01}).at(0);
  EXPECT_EQ(row.basis, "pilot");
  EXPECT_EQ(row.design.between_tasks, 0);
  ASSERT_TRUE(row.between_upper);
  // Two of 24 differences are 1/2: variance (2/4 - 1/24)/23, 23 degrees of freedom; scipy: chi2.ppf(0.1, 23)
  // = 14.847955
  const double spread = (0.5 - 1.0 / 24) / 23;
  EXPECT_NEAR(*row.between_upper, spread * (23 / 14.847955 - 1), 1e-7);
  EXPECT_GT(row.smallest_ever.value(), 0.01);
  EXPECT_FALSE(row.replicates_needed) << "endless replicates do not see everything";
  EXPECT_TRUE(row.replicates_might_help);
}

TEST(Pilot, CellsThatNeverDifferLeaveThePrior) {
  auto made = made_run({"m.ss.p", "m.agent.p"}, made_tasks("L1", 24), 1,
                       [](const EpisodeId& id) { return ended(number_of(id) % 3 == 0); });
  made.run.grid.contrasts = {{"tools", {{"mode", "agent"}}, {{"mode", "ss"}}, {"all"}}};
  const ReadRun pilot{made.run, made.ledger};
  const auto row = plan_power(made.run.grid, made.run.plan, &pilot).at(0);
  EXPECT_EQ(row.basis, "prior");
  EXPECT_GE(row.smallest.value(), 6.0 / 24);
}

}  // namespace
}  // namespace nkigrid::aggregate
