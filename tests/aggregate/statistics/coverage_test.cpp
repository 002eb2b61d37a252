#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "aggregate/statistics/bootstrap.hpp"
#include "aggregate/statistics/intervals.hpp"
#include "tests/aggregate/statistics/percentile.hpp"

namespace nkigrid::aggregate {
namespace {

constexpr double kNominal = 0.95;

double binomial_mass(std::uint32_t k, std::uint32_t n, double p) {
  return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) + k * std::log(p) +
                  (n - k) * std::log1p(-p));
}

std::vector<TaskCount> zero_one_tasks(std::uint32_t passed, std::uint32_t n) {
  std::vector<TaskCount> tasks(n, TaskCount{0, 1, 0});
  for (std::uint32_t i = 0; i < passed; ++i) tasks[i].passed = 1;
  return tasks;
}

using Method = std::function<std::optional<Range>(std::uint32_t passed, std::uint32_t n)>;

// The ends for every count, once; then coverage is a sum over the binomial.
std::vector<std::optional<Range>> all_ends(std::uint32_t n, const Method& method) {
  std::vector<std::optional<Range>> ends;
  for (std::uint32_t k = 0; k <= n; ++k) ends.push_back(method(k, n));
  return ends;
}

double exact_coverage(const std::vector<std::optional<Range>>& ends, double p) {
  const auto n = static_cast<std::uint32_t>(ends.size() - 1);
  double covered = 0;
  for (std::uint32_t k = 0; k <= n; ++k) {
    if (ends[k] && ends[k]->low <= p + 1e-12 && p <= ends[k]->high + 1e-12) covered += binomial_mass(k, n, p);
  }
  return covered;
}

Range ends_of(const Interval& interval) { return {interval.low, interval.high}; }

TEST(Coverage, OfEachMethodMeetsTheReference) {
  std::ifstream file(NKIGRID_TEST_DATA "/aggregate/reference_intervals.json");
  const auto reference = nlohmann::json::parse(file);
  const std::map<std::string, Method> methods{
      {"wilson", [](auto k, auto n) { return ends_of(wilson(static_cast<double>(k) / n, n, kNominal)); }},
      {"clopper_pearson",
       [](auto k, auto n) { return ends_of(clopper_pearson(static_cast<double>(k) / n, n, kNominal)); }},
      {"percentile", [](auto k, auto n) { return test::percentile_ends(sample_of(zero_one_tasks(k, n)), kNominal); }},
      {"bca", [](auto k, auto n) { return bca_ends(sample_of(zero_one_tasks(k, n)), kNominal); }}};
  ASSERT_EQ(reference["coverage"].size(), 4u);
  for (const auto& row : reference["coverage"]) {
    const auto ends = all_ends(row["n"], methods.at(row["method"]));
    for (const auto& [p, coverage] : row["at_p"].items())
      EXPECT_NEAR(exact_coverage(ends, std::stod(p)), coverage.get<double>(), 1e-6) << row["method"] << " at " << p;
  }
}

TEST(Coverage, OfOneReplicateIsNearTheLevelForEveryRate) {
  for (const std::uint32_t n : {60u, 150u}) {
    const auto ends =
        all_ends(n, [](auto k, auto size) { return ends_of(rate_interval(zero_one_tasks(k, size), kNominal)); });
    for (int percent = 2; percent <= 98; ++percent) {
      const double coverage = exact_coverage(ends, percent / 100.0);
      EXPECT_GE(coverage, 0.925) << n << " tasks at " << percent << " %";
      EXPECT_LE(coverage, 0.995) << n << " tasks at " << percent << " %";
    }
  }
}

/// Tasks whose chance of passing is Beta with this mean and intraclass correlation.
struct Design {
  std::uint32_t tasks, replicates;
  double rate, correlation;
};

double simulated_coverage(const Design& design, int rounds, std::mt19937_64& random) {
  const double strength = 1 / design.correlation - 1;
  std::gamma_distribution<double> pass(design.rate * strength), fail((1 - design.rate) * strength);
  int covered = 0;
  std::vector<TaskCount> tasks(design.tasks);
  for (int round = 0; round < rounds; ++round) {
    for (auto& task : tasks) {
      const double a = pass(random), b = fail(random), p = a + b > 0 ? a / (a + b) : design.rate;
      task = {0, design.replicates, 0};
      for (std::uint32_t k = 0; k < design.replicates; ++k)
        task.passed += std::generate_canonical<double, 53>(random) < p;
    }
    const auto interval = rate_interval(tasks, kNominal);
    covered += interval.low <= design.rate && design.rate <= interval.high;
  }
  return static_cast<double>(covered) / rounds;
}

TEST(Coverage, OfSeveralReplicatesIsNearTheLevelWhateverTheTasksAreLike) {
  std::mt19937_64 random(20260705);  // its sequence is fixed by the standard
  for (const std::uint32_t tasks : {60u, 150u}) {
    for (const std::uint32_t replicates : {3u, 10u}) {
      for (const double correlation : {0.09, 1.0 / 3, 0.67}) {
        for (const double rate : {0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.8, 0.95, 0.98}) {
          const double coverage = simulated_coverage({tasks, replicates, rate, correlation}, 1000, random);
          const auto what =
              fmt::format("{} tasks x {}, correlation {:.2f}, rate {}", tasks, replicates, correlation, rate);
          EXPECT_GE(coverage, 0.925) << what;
          EXPECT_LE(coverage, 0.995) << what;
        }
      }
    }
  }
}

}  // namespace
}  // namespace nkigrid::aggregate
