#include "aggregate/statistics/power.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace nkigrid::aggregate {
namespace {

nlohmann::json power_reference() {
  std::ifstream file(NKIGRID_TEST_DATA "/aggregate/reference_intervals.json");
  return nlohmann::json::parse(file);
}

TEST(Power, ExactMcNemarMeetsTheReference) {
  const auto rows = power_reference()["mcnemar_power"];
  ASSERT_EQ(rows.size(), 18u);
  for (const auto& row : rows) {
    const double difference = row["p1"].get<double>() - row["p2"].get<double>();
    EXPECT_NEAR(mcnemar_power(difference, row["discordance"], row["n"], 0.05, PValue::exact),
                row["power"].get<double>(), 1e-6)
        << row;
  }
}

TEST(Power, PairedErrorIsTheTrueStandardErrorOfAMean) {
  // A cell against nothing: omega^2 and sigma^2 of a Beta give the reference's standard errors at 150 tasks.
  for (const auto& row : power_reference()["standard_errors"]) {
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

}  // namespace
}  // namespace nkigrid::aggregate
