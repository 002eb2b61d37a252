#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <optional>
#include <random>

#include "aggregate/statistics/combination.hpp"
#include "aggregate/statistics/intervals.hpp"

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

/// Tasks in three levels whose rates lie apart; a task's chance of passing is Beta with this intraclass correlation.
/// The tasks of a second cell have the same chances, less so far.
struct Design {
  std::uint32_t tasks, replicates;
  double rate, correlation, apart;
};

class Simulation {
 public:
  Simulation(const Design& design, std::mt19937_64& random) : design_(design), random_(random) {}

  // Of the rate, and of its difference from another cell of the same tasks, whose rate is the same.
  std::pair<double, double> coverage(int rounds) {
    int of_rate = 0, of_difference = 0;
    for (int round = 0; round < rounds; ++round) {
      std::vector<TaskCount> a, b;
      for (std::uint32_t i = 0; i < design_.tasks; ++i) {
        const std::uint32_t level = i % 3;
        const double first = chance(level);
        a.push_back(passes(first, level));
        b.push_back(passes(i % 2 ? first : chance(level), level));
      }
      of_rate += holds(rate_interval(a, kNominal), design_.rate);
      of_difference += holds(compare(a, b, kNominal, PValue::mid).interval, 0);
    }
    return {static_cast<double>(of_rate) / rounds, static_cast<double>(of_difference) / rounds};
  }

 private:
  static bool holds(const Interval& interval, double truth) { return interval.low <= truth && truth <= interval.high; }

  double chance(std::uint32_t level) {
    const double rate = design_.rate + design_.apart * (1.0 - level), strength = 1 / design_.correlation - 1;
    std::gamma_distribution<double> pass(rate * strength), fail((1 - rate) * strength);
    const double a = pass(random_), b = fail(random_);
    return a + b > 0 ? a / (a + b) : rate;
  }

  TaskCount passes(double chance, std::uint32_t level) {
    TaskCount task{0, design_.replicates, level};
    for (std::uint32_t k = 0; k < design_.replicates; ++k)
      task.passed += std::generate_canonical<double, 53>(random_) < chance;
    return task;
  }

  Design design_;
  std::mt19937_64& random_;
};

// What is printed of a run. 2,000 rounds: the standard error is 0.005; the whole table is in
// docs/decisions/intervals.md.
TEST(Coverage, OfRatesAndDifferencesIsNearTheLevelWhateverTheTasksAreLike) {
  std::mt19937_64 random(20260705);  // its sequence is fixed by the standard
  for (const auto& design : {Design{60, 1, 0.3, 0.3, 0.25}, Design{60, 3, 0.04, 0.5, 0}, Design{60, 10, 0.5, 0.1, 0.4},
                             Design{150, 3, 0.2, 0.5, 0.15}, Design{150, 10, 0.96, 0.7, 0.02},
                             Design{24, 3, 0.3, 0.3, 0.2}, Design{12, 2, 0.5, 0.5, 0.3}}) {
    const auto [rate, difference] = Simulation(design, random).coverage(2000);
    const auto what = fmt::format("{} tasks x {}, correlation {}, rate {}", design.tasks, design.replicates,
                                  design.correlation, design.rate);
    EXPECT_GE(rate, 0.925) << what;
    EXPECT_GE(difference, 0.925) << what;
  }
}

}  // namespace
}  // namespace nkigrid::aggregate
