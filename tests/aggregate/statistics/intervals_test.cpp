#include "aggregate/statistics/intervals.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "aggregate/statistics/bootstrap.hpp"
#include "aggregate/statistics/combination.hpp"
#include "tests/aggregate/statistics/percentile.hpp"

namespace nkigrid::aggregate {
namespace {

constexpr double kLevel = 0.95;

const nlohmann::json& reference() {
  static const auto document = [] {
    std::ifstream file(NKIGRID_TEST_DATA "/aggregate/reference_intervals.json");
    return nlohmann::json::parse(file);
  }();
  return document;
}

std::vector<TaskCount> binary_tasks(std::uint32_t passed, std::uint32_t n, std::uint32_t stratum = 0) {
  std::vector<TaskCount> tasks(n, TaskCount{0, 1, stratum});
  for (std::uint32_t i = 0; i < passed; ++i) tasks[i].passed = 1;
  return tasks;
}

void expect_ends(double low, double high, const nlohmann::json& expected, const std::string& name) {
  EXPECT_NEAR(low, expected[0].get<double>(), 1e-6) << name;
  EXPECT_NEAR(high, expected[1].get<double>(), 1e-6) << name;
}

TEST(Intervals, WilsonAndClopperPearsonMeetTheReference) {
  ASSERT_EQ(reference()["rates"].size(), 22u);
  for (const auto& row : reference()["rates"]) {
    const std::uint64_t passed = row["passed"], n = row["n"];
    const auto w = wilson(static_cast<double>(passed) / static_cast<double>(n), static_cast<double>(n), kLevel);
    const auto cp =
        clopper_pearson(static_cast<double>(passed) / static_cast<double>(n), static_cast<double>(n), kLevel);
    expect_ends(w.low, w.high, row["wilson"], row["name"]);
    expect_ends(cp.low, cp.high, row["clopper_pearson"], row["name"]);
  }
}

TEST(Intervals, ExactBootstrapMeetsTheReference) {
  int bca_values = 0;
  for (const auto& row : reference()["rates"]) {
    const auto sample = sample_of(binary_tasks(row["passed"], row["n"]));
    const auto percentile = test::percentile_ends(sample, kLevel);
    expect_ends(percentile.low, percentile.high, row["percentile"], row["name"]);
    const auto bca = bca_ends(sample, kLevel);
    ASSERT_EQ(bca.has_value(), !row["bca"][0].is_null()) << row["name"];
    if (!bca) continue;
    expect_ends(bca->low, bca->high, row["bca"], row["name"]);
    ++bca_values;
  }
  EXPECT_EQ(bca_values, 21);
}

TEST(Intervals, StratifiedBootstrapMeetsTheReferenceWithinOneLatticeStep) {
  // The reference was drawn; a drawn end may be one step of 1/150 off.
  for (const auto& row : reference()["stratified"]) {
    std::vector<TaskCount> tasks;
    for (std::uint32_t level = 0; level < 3; ++level) {
      const auto more = binary_tasks(row["levels"][level], row["tasks_per_level"], level);
      tasks.insert(tasks.end(), more.begin(), more.end());
    }
    const auto ends = test::percentile_ends(sample_of(tasks), kLevel);
    EXPECT_NEAR(ends.low, row["percentile"][0].get<double>(), 1.0 / 150 + 1e-6) << row["name"];
    EXPECT_NEAR(ends.high, row["percentile"][1].get<double>(), 1.0 / 150 + 1e-6) << row["name"];
  }
}

TEST(Intervals, NewcombeMeetsTheReference) {
  ASSERT_EQ(reference()["differences"].size(), 18u);
  for (const auto& row : reference()["differences"]) {
    const double na = row["a"][1], nb = row["b"][1];
    const auto interval = newcombe(row["a"][0].get<double>() / na, na, row["b"][0].get<double>() / nb, nb, kLevel);
    expect_ends(interval.low, interval.high, row["newcombe"], row["name"]);
  }
}

TEST(Intervals, OneReplicateIsWilson) {
  const auto interval = rate_interval(binary_tasks(29, 150), kLevel);
  EXPECT_EQ(interval.method, "wilson");
  EXPECT_NEAR(interval.low, 0.138119, 1e-6);
}

TEST(Intervals, SeveralReplicatesAreBcaFromSixTasksWithAPassAndSixWithAFailureOn) {
  std::vector<TaskCount> tasks(20, TaskCount{0, 3, 0});
  for (int i = 0; i < 5; ++i) tasks[static_cast<std::size_t>(i)].passed = 1;
  auto interval = rate_interval(tasks, kLevel);
  const auto expected = wilson(5.0 / 60, 20, kLevel);
  EXPECT_EQ(interval.method, "wilson");
  EXPECT_DOUBLE_EQ(interval.low, expected.low);
  EXPECT_DOUBLE_EQ(interval.high, expected.high);
  tasks[5].passed = 3;
  EXPECT_EQ(rate_interval(tasks, kLevel).method, "bca");
  for (auto& task : tasks) task.passed = task.replicates - task.passed;
  EXPECT_EQ(rate_interval(tasks, kLevel).method, "bca");
  tasks[5].passed = 3;  // five tasks are left with any failure
  EXPECT_EQ(rate_interval(tasks, kLevel).method, "wilson");
}

TEST(Intervals, TasksThatAllScoreAlikeGetAWidth) {
  const std::vector<TaskCount> tasks(12, TaskCount{1, 3, 0});
  const auto interval = rate_interval(tasks, kLevel);
  EXPECT_EQ(interval.method, "wilson");
  EXPECT_LT(interval.low, 1.0 / 3);
  EXPECT_GT(interval.high, 1.0 / 3);
}

TEST(Intervals, StrataThatDoNotVaryGetAWidth) {
  std::vector<TaskCount> tasks(20, TaskCount{3, 3, 0});
  for (std::size_t i = 10; i < 20; ++i) tasks[i] = {0, 3, 1};
  const auto interval = rate_interval(tasks, kLevel);
  EXPECT_EQ(interval.method, "wilson");
  EXPECT_LT(interval.low, interval.high);
}

TEST(Intervals, ResamplingWithinLevelsNarrowsTheInterval) {
  std::vector<TaskCount> mixed, stratified;
  for (std::uint32_t i = 0; i < 60; ++i) {
    const std::uint32_t level = i / 20, passed = level == 0 ? 2 + i % 2 : level == 1 ? i % 3 : i % 10 == 0;
    mixed.push_back({passed, 3, 0});
    stratified.push_back({passed, 3, level});
  }
  const auto wide = rate_interval(mixed, kLevel), narrow = rate_interval(stratified, kLevel);
  EXPECT_LT(narrow.high - narrow.low, 0.8 * (wide.high - wide.low));
}

TEST(Intervals, DifferenceWithFewerThanSixDifferingTasksIsNewcombe) {
  auto a = binary_tasks(25, 50), b = binary_tasks(20, 50);
  auto interval = difference_interval(a, b, kLevel);
  EXPECT_EQ(interval.method, "newcombe");
  EXPECT_DOUBLE_EQ(interval.low, newcombe(0.5, 50, 0.4, 50, kLevel).low);
  b[49].passed = 1;  // a sixth, the other way
  EXPECT_EQ(difference_interval(a, b, kLevel).method, "bca");
}

TEST(Intervals, DifferenceThatIsTheSameForEveryTaskGetsAWidth) {
  const auto interval = difference_interval(binary_tasks(30, 30), binary_tasks(0, 30), kLevel);
  EXPECT_EQ(interval.method, "newcombe");
  EXPECT_LT(interval.low, interval.high);
}

TEST(Intervals, RunToRunFollowsTheVarianceWithinTasks) {
  // p = 1/3, 2/3, 1 at K = 3, three times: sigma^2 = (3/2)(2/9 + 2/9 + 0)/3 = 2/9; SE = sqrt(2/9 / 27).
  const std::vector<TaskCount> tasks{{1, 3, 0}, {2, 3, 0}, {3, 3, 0}, {1, 3, 0}, {2, 3, 0},
                                     {3, 3, 0}, {1, 3, 0}, {2, 3, 0}, {3, 3, 0}};
  const auto interval = run_to_run_interval(tasks, kLevel);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, 2.0 / 3 - 1.959963985 * std::sqrt(2.0 / 243), 1e-9);
  EXPECT_NEAR(interval->high, 2.0 / 3 + 1.959963985 * std::sqrt(2.0 / 243), 1e-9);
  EXPECT_FALSE(run_to_run_interval(binary_tasks(3, 9), kLevel));
}

TEST(Intervals, RunToRunOfUnanimousReplicatesHasAWidth) {
  const auto interval = run_to_run_interval(std::vector<TaskCount>(10, TaskCount{0, 4, 0}), kLevel);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->low, 0);
  EXPECT_NEAR(interval->high, wilson(0, 40, kLevel).high, 1e-12);
}

// Random rows from a fixed linear congruential sequence.
TEST(Intervals, HoldTheEstimateAndAreNeverOfZeroWidth) {
  std::uint64_t state = 20260705;
  const auto below = [&](std::uint32_t bound) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::uint32_t>((state >> 33) % bound);
  };
  for (int round = 0; round < 3000; ++round) {
    const std::uint32_t n = 1 + below(30), k = 1 + below(5), strata = 1 + below(3), bias = below(4);
    std::vector<TaskCount> a, b;
    for (std::uint32_t i = 0; i < n; ++i) {
      a.push_back({bias == 0 ? k : bias == 1 ? (below(8) == 0) * k : below(k + 1), k, i % strata});
      b.push_back({below(k + 1), k, i % strata});
    }
    const double rate = mean_score(a), difference = rate - mean_score(b);
    const auto one = rate_interval(a, kLevel), two = difference_interval(a, b, kLevel);
    ASSERT_LT(one.low, one.high) << one.method << ' ' << n << ' ' << k;
    ASSERT_TRUE(one.low <= rate && rate <= one.high && one.low >= 0 && one.high <= 1)
        << one.method << ' ' << n << ' ' << k;
    ASSERT_LT(two.low, two.high) << two.method << ' ' << n << ' ' << k;
    ASSERT_TRUE(two.low <= difference && difference <= two.high && two.low >= -1 && two.high <= 1) << two.method;
  }
}

TEST(Intervals, GrowWithTheLevelAndMirrorWhenPassesAndFailuresSwap) {
  std::vector<TaskCount> tasks, mirrored;
  for (std::uint32_t i = 0; i < 40; ++i) tasks.push_back({(i * i) % 5, 4, i % 2});
  for (const auto& task : tasks) mirrored.push_back({task.replicates - task.passed, task.replicates, task.stratum});
  auto inner = rate_interval(tasks, 0.5);
  for (const double level : {0.8, 0.9, 0.95, 0.99, 0.999, 0.999999}) {
    const auto outer = rate_interval(tasks, level), mirror = rate_interval(mirrored, level);
    EXPECT_LE(outer.low, inner.low);
    EXPECT_GE(outer.high, inner.high);
    EXPECT_NEAR(outer.low, 1 - mirror.high, 1e-12) << level;
    EXPECT_NEAR(outer.high, 1 - mirror.low, 1e-12) << level;
    inner = outer;
  }
}

}  // namespace
}  // namespace nkigrid::aggregate
