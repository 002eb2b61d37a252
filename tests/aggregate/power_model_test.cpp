#include "aggregate/statistics/power_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "aggregate/statistics/variance.hpp"
#include "aggregate/tables/power_plan.hpp"
#include "tests/aggregate/made_run.hpp"

// Right values: independent_values.py beside this file.
namespace nkigrid::aggregate {
namespace {

using test::ended, test::join, test::made_run, test::made_tasks, test::number_of;

const std::vector<double> kAlphas{0.05};

TEST(PowerModel, OfOneReplicateIsTheExactPowerOfMcNemar) {
  struct Value {
    std::uint32_t tasks;
    double difference, discordance, power;
  };
  // Discordance from 200,000 quantiles, power from the trinomial.
  for (const auto& value : {Value{24, 0.3, 0.4401320666241968, 0.5214164992418227},
                            {60, 0.2, 0.37817353189900443, 0.6659464808109153},
                            {150, 0.1, 0.3199384852380738, 0.5370542960789889}}) {
    TestPower power({}, {value.tasks, 1, 1}, kAlphas, 100);
    EXPECT_EQ(power.draws(), 0u);
    EXPECT_NEAR(power.discordance(value.difference), value.discordance, 1e-3) << value.tasks;
    EXPECT_NEAR(power.at(value.difference)[0], value.power, 2e-3) << value.tasks;
  }
}

TEST(PowerModel, OfSeveralReplicatesMeetsAnotherSimulation) {
  struct Value {
    std::uint32_t tasks, replicates;
    double difference, power;
  };
  // 10,000 grids of numpy's generator, sign-flip p by convolution: standard error 0.005 there, 0.011 here.
  for (const auto& value :
       {Value{24, 3, 0.2, 0.5918}, {60, 3, 0.15, 0.8012}, {60, 10, 0.1, 0.722}, {150, 3, 0.1, 0.8797}}) {
    TestPower power({}, {value.tasks, value.replicates, value.replicates}, kAlphas, 2000);
    EXPECT_NEAR(power.at(value.difference)[0], value.power, 0.04) << value.tasks << " x " << value.replicates;
  }
}

TEST(PowerModel, TheSmallestDifferenceHasThePowerAndABitLessHasNot) {
  for (const std::uint32_t replicates : {1u, 3u}) {
    TestPower power({}, {60, replicates, replicates}, {0.05, 0.05 / 12}, 1000);
    const auto one = power.smallest(0, 0.8), in_family = power.smallest(1, 0.8);
    ASSERT_TRUE(one && in_family);
    EXPECT_NEAR(power.at(*one)[0], 0.8, 0.01);
    EXPECT_GE(power.at(*one)[0], 0.8);
    EXPECT_NEAR(power.at(*in_family)[1], 0.8, 0.01);
    EXPECT_LT(power.at(*one - 0.01)[0], 0.8);
    EXPECT_GT(*in_family, *one);
  }
}

TEST(PowerModel, NothingIsPromisedThatTheTestCannotReject) {
  // Six tasks must differ, and all one way, before the exact test reaches 0.05.
  const PairModel alike{0.5, 0.9, 0.9, 1};
  for (const std::uint32_t tasks : {7u, 12u, 24u}) {
    TestPower power(alike, {tasks, 1, 1}, kAlphas, 100);
    const auto smallest = power.smallest(0, 0.8);
    EXPECT_TRUE(!smallest || *smallest >= 6.0 / tasks) << tasks;
  }
  TestPower five({}, {5, 1, 1}, kAlphas, 100);
  EXPECT_FALSE(five.smallest(0, 0.8));
  EXPECT_EQ(five.at(0.7)[0], 0);
}

TEST(PowerModel, MirrorsRatesAboveOneHalf) {
  TestPower low({0.2, 0.3, 0.3, 0.5}, {60, 1, 1}, kAlphas, 100), high({0.8, 0.3, 0.3, 0.5}, {60, 1, 1}, kAlphas, 100);
  EXPECT_NEAR(low.at(0.2)[0], high.at(0.2)[0], 1e-6);
}

TEST(Spread, HasTheChiSquareBound) { EXPECT_NEAR((Spread{1, 22}.upper(0.9)), 1.5667849354207928, 1e-9); }

TEST(PowerPlan, TheTasksThatItTakesHaveThePower) {
  for (const std::uint32_t replicates : {1u, 3u}) {
    auto made = made_run({"m.ss.p", "m.agent.p"}, made_tasks("L1", 24), replicates,
                         [](const EpisodeId&) { return ended(true); });
    made.run.grid.contrasts = {{"tools", {{"mode", "agent"}}, {{"mode", "ss"}}, {"all"}}};
    const auto row = plan_power(made.run.grid, made.run.plan, nullptr, {.difference = 0.1}).at(0);
    EXPECT_GT(row.tasks_needed, 24u);
    TestPower test({}, {static_cast<std::uint32_t>(row.tasks_needed), replicates, replicates}, kAlphas, 2000);
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
  EXPECT_GT(row.smallest_ever, 0.01);
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
