#include "aggregate/statistics/power.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "aggregate/tables/power_plan.hpp"
#include "tests/aggregate/made_run.hpp"

namespace nkigrid::aggregate {
namespace {

using test::ended, test::made_run, test::made_tasks, test::number_of;

nlohmann::json reference() {
  std::ifstream file(NKIGRID_TEST_DATA "/aggregate/reference_intervals.json");
  return nlohmann::json::parse(file);
}

TEST(Power, UnpairedTasksMeetTheReference) {
  for (const auto& row : reference()["unpaired_tasks"])
    EXPECT_EQ(unpaired_tasks(row["rates"][0], row["rates"][1]), row["n"].get<std::uint64_t>()) << row;
}

TEST(Power, UnpairedDifferenceMeetsTheReference) {
  for (const auto& [n, points] : reference()["unpaired_difference_at_20"].items())
    EXPECT_NEAR(100 * unpaired_difference(0.2, std::stoull(n)), points.get<double>(), 1e-6) << n;
}

TEST(Power, ExactMcNemarMeetsTheReference) {
  const auto rows = reference()["mcnemar_power"];
  ASSERT_EQ(rows.size(), 18u);
  for (const auto& row : rows) {
    const double difference = row["p1"].get<double>() - row["p2"].get<double>();
    EXPECT_NEAR(mcnemar_power(difference, row["discordance"], row["n"]), row["power"].get<double>(), 1e-6) << row;
  }
}

TEST(Power, PairedErrorIsTheTrueStandardErrorOfAMean) {
  // A cell against nothing: omega^2 and sigma^2 of a Beta give the reference's standard errors at 150 tasks.
  for (const auto& row : reference()["standard_errors"]) {
    const double a = row["beta"][0], b = row["beta"][1], p = a / (a + b), correlation = 1 / (a + b + 1);
    const double between = p * (1 - p) * correlation, noise = p * (1 - p) - between, k = row["replicates"];
    EXPECT_NEAR(100 * paired_error({150, between, noise, 0, k, 1}), row["points"].get<double>(), 1e-6) << row;
    EXPECT_NEAR(100 * std::sqrt(noise / (k * 150)), row["run_to_run_points"].get<double>(), 1e-6) << row;
  }
}

TEST(Power, SmallestDifferenceIsMillersFormula) {
  // (1.959963985 + 0.841621234) sqrt((0.05 + 0.1/5 + 0.08/3)/150)
  EXPECT_NEAR(smallest_difference({150, 0.05, 0.1, 0.08, 5, 3}),
              2.801585218 * std::sqrt((0.05 + 0.02 + 0.08 / 3) / 150), 1e-9);
}

TEST(Power, ReplicatesNeededShowTheDifferenceAndOneLessDoesNot) {
  const PairedDesign design{150, 0.02, 0.11, 0.11, 1, 1};
  const auto needed = replicates_needed(design, 0.05, smallest_difference(design));
  ASSERT_TRUE(needed);
  auto with = design, without = design;
  with.replicates_a = with.replicates_b = static_cast<double>(*needed);
  without.replicates_a = without.replicates_b = static_cast<double>(*needed - 1);
  EXPECT_LE(smallest_difference(with), 0.05);
  EXPECT_GT(smallest_difference(without), 0.05);
  const auto tasks = tasks_needed(design, 0.05, smallest_difference(design));
  auto more = design;
  more.tasks = static_cast<double>(tasks);
  EXPECT_LE(smallest_difference(more), 0.05 + 1e-12);
  more.tasks -= 1;
  EXPECT_GT(smallest_difference(more), 0.05);
}

TEST(Power, NoNumberOfReplicatesHelpsWhereTasksAloneScatterTooMuch) {
  const PairedDesign design{60, 0.1, 0.1, 0.1, 1, 1};
  EXPECT_FALSE(replicates_needed(design, 0.05, smallest_difference(design)));
}

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
  EXPECT_LE(rows[0].smallest_ever, *rows[0].smallest);
  EXPECT_GT(rows[0].smallest_ever, 0);
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

}  // namespace
}  // namespace nkigrid::aggregate
