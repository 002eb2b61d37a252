#include "aggregate/statistics/intervals.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "aggregate/statistics/combination.hpp"

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

// Right values of these: ../independent_values.py.
void expect_interval(const Interval& interval, const char* method, double low, double high) {
  EXPECT_EQ(interval.method, method);
  EXPECT_NEAR(interval.low, low, 1e-9);
  EXPECT_NEAR(interval.high, high, 1e-9);
}

std::vector<TaskCount> spread_level() {
  std::vector<TaskCount> tasks;
  for (std::uint32_t i = 0; i < 12; ++i) tasks.push_back({i % 4, 3, 0});
  return tasks;
}

TEST(Intervals, SeveralReplicatesAreWilsonWithAsManyTasksAsTheScatterIsWorth) {
  auto tasks = spread_level();
  expect_interval(mean_interval(scores_by_level(tasks), kLevel), "wilson-eff", 0.2972874438171323, 0.7027125561828677);
  for (std::uint32_t i = 0; i < 8; ++i) tasks.push_back({i == 0 ? 3u : 0u, 3, 1});
  expect_interval(mean_interval(scores_by_level(tasks), kLevel), "wilson-eff", 0.20889093093699304, 0.5233692547434385);
}

TEST(Intervals, OneReplicateInLevelsCountsWhatTheLevelsExplain) {
  std::vector<TaskCount> tasks;
  for (const std::uint32_t passed : {40u, 9u, 1u}) {
    const auto more = binary_tasks(passed, 50, passed);
    tasks.insert(tasks.end(), more.begin(), more.end());
  }
  const auto interval = rate_interval(tasks, kLevel), simple = wilson(50.0 / 150, 150, kLevel);
  expect_interval(interval, "wilson-eff", 0.2821595838937414, 0.3887618070084278);
  EXPECT_LT(interval.high - interval.low, 0.75 * (simple.high - simple.low));
}

TEST(Intervals, LevelsOfFewTasksAreTakenTogether) {
  const LevelValues levels{{1, 0}, {1.0 / 3}, {1, 1, 2.0 / 3}, {0, 0, 0, 1.0 / 3, 0}, {0}};
  expect_interval(mean_interval(levels, kLevel), "wilson-eff", 0.2037733571971975, 0.555220276515199);
  EXPECT_EQ(scatter_within_levels({{1}}), 0);
}

TEST(Intervals, AreNoNarrowerThanTheTrueRateOfTheirOwnTasks) {
  for (std::uint32_t seed = 1; seed < 40; ++seed) {
    std::vector<TaskCount> tasks;  // three levels of four, all of one chance
    for (std::uint32_t i = 0; i < 12; ++i) tasks.push_back({(seed * (i + 3) * (i + 7)) % 4, 3, i / 4});
    const auto interval = rate_interval(tasks, kLevel);
    const auto rerun = *run_to_run_interval(tasks, kLevel);
    EXPECT_LE(interval.low, rerun.low);
    EXPECT_GE(interval.high, rerun.high);
  }
}

TEST(Intervals, TasksThatAllScoreAlikeGetAWidth) {
  const auto interval = rate_interval(std::vector<TaskCount>(12, TaskCount{1, 3, 0}), kLevel);
  EXPECT_LT(interval.low, 0.25);
  EXPECT_GT(interval.high, 0.45);
}

TEST(Intervals, StrataThatDoNotVaryGetAWidth) {
  std::vector<TaskCount> tasks(20, TaskCount{3, 3, 0});
  for (std::size_t i = 10; i < 20; ++i) tasks[i] = {0, 3, 1};
  const auto interval = rate_interval(tasks, kLevel);
  EXPECT_LT(interval.low, 0.45);
  EXPECT_GT(interval.high, 0.55);
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

// a passes `up` tasks that b does not, b passes `down` that a does not, of n.
Interval paired_interval(std::uint32_t up, std::uint32_t down, std::uint32_t n) {
  auto a = binary_tasks(up, n), b = binary_tasks(0, n);
  for (std::uint32_t i = up; i < up + down; ++i) b[i].passed = 1;
  return compare(a, b, kLevel, PValue::mid).interval;
}

TEST(Intervals, DifferencesAreBonettAndPricesWhateverTheirNumber) {
  expect_interval(paired_interval(12, 1, 40), "bonett-price", 0.09870268298675557, 0.42510684082276823);
  expect_interval(paired_interval(6, 0, 50), "bonett-price", 0.01293720319669097, 0.2178320275725398);
  expect_interval(paired_interval(5, 0, 50), "bonett-price+test", 1e-6, 0.1929254566041812);  // mid-p 0.031
  expect_interval(paired_interval(4, 0, 50), "bonett-price", -0.013498330275066946, 0.1673444841212208);
  expect_interval(paired_interval(0, 0, 50), "bonett-price", -0.05330399324421838, 0.05330399324421838);
}

TEST(Intervals, AnotherTaskThatDiffersChangesTheWidthALittle) {
  for (std::uint32_t n : {24u, 60u, 150u}) {
    double before = 0;
    for (std::uint32_t differ = 0; differ <= 20; ++differ) {
      const auto interval = paired_interval((differ + 1) / 2, differ / 2, n);
      const double width = interval.high - interval.low;
      EXPECT_TRUE(differ == 0 || std::abs(width / before - 1) < 0.25) << differ << " of " << n;
      before = width;
    }
  }
}

TEST(Intervals, OfDifferencesHold0WhereTheTestDoesNotSeparate) {
  for (std::uint32_t up = 0; up <= 20; ++up) {
    for (std::uint32_t down = 0; down <= 20; ++down) {
      const auto interval = paired_interval(up, down, 60);
      EXPECT_EQ(interval.low <= 0 && 0 <= interval.high, mcnemar(up, down, PValue::mid) > 0.05) << up << ' ' << down;
    }
  }
}

TEST(Intervals, DifferenceThatIsTheSameForEveryTaskGetsAWidth) {
  const auto interval = paired_interval(30, 0, 30);
  EXPECT_LT(interval.low, 0.95);
  EXPECT_EQ(interval.high, 1);
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
    const auto one = rate_interval(a, kLevel), two = compare(a, b, kLevel, PValue::mid).interval;
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
