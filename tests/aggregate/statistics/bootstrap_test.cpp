#include "aggregate/statistics/bootstrap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "aggregate/statistics/characteristic.hpp"
#include "aggregate/statistics/normal.hpp"
#include "jobs/base/error.hpp"

namespace nkigrid::aggregate {
namespace {

// Every resample of every stratum, counted: sum -> number of ways.
std::map<std::int64_t, double> enumerate(const Sample& sample) {
  std::map<std::int64_t, double> sums{{0, 1.0}};
  for (const auto& stratum : sample.strata) {
    for (std::size_t draw = 0; draw < stratum.size(); ++draw) {
      std::map<std::int64_t, double> next;
      for (const auto& [sum, ways] : sums) {
        for (const auto value : stratum) next[sum + value] += ways;
      }
      sums = std::move(next);
    }
  }
  return sums;
}

// n^n resamples one by one, as the textbook says it, for one stratum.
std::map<std::int64_t, double> enumerate_one_by_one(const std::vector<std::int64_t>& values) {
  std::map<std::int64_t, double> sums;
  std::vector<std::size_t> picks(values.size(), 0);
  for (;;) {
    std::int64_t sum = 0;
    for (const auto pick : picks) sum += values[pick];
    sums[sum] += 1;
    std::size_t i = 0;
    while (i < picks.size() && ++picks[i] == values.size()) picks[i++] = 0;
    if (i == picks.size()) return sums;
  }
}

void expect_same(const Lattice& lattice, const std::map<std::int64_t, double>& ways) {
  double total = 0;
  for (const auto& [sum, count] : ways) total += count;
  for (std::int64_t point = lattice.first; point <= lattice.last(); ++point) {
    const auto found = ways.find(point);
    const double expected = found == ways.end() ? 0 : found->second / total;
    EXPECT_NEAR(lattice.mass[static_cast<std::size_t>(point - lattice.first)], expected, 1e-13 * expected) << point;
  }
  EXPECT_GE(ways.begin()->first, lattice.first);
  EXPECT_LE(ways.rbegin()->first, lattice.last());
}

// BCa by its definition over listed resamples, with jackknife means and bisection instead of our formulas.
Range bca_by_definition(const std::vector<std::int64_t>& values, const std::map<std::int64_t, double>& ways,
                        double level) {
  const auto n = static_cast<double>(values.size());
  double sum = 0, total = 0, below = 0, equal = 0;
  for (const auto value : values) sum += static_cast<double>(value);
  for (const auto& [point, count] : ways) {
    total += count;
    if (static_cast<double>(point) < sum) below += count;
    if (static_cast<double>(point) == sum) equal += count;
  }
  const auto phi = [](double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); };
  const auto phi_inverse = [&](double p) {
    double low = -40, high = 40;
    for (int i = 0; i < 200; ++i) (phi((low + high) / 2) < p ? low : high) = (low + high) / 2;
    return (low + high) / 2;
  };
  double jackknife_mean = 0, cubes = 0, squares = 0;
  for (const auto value : values) jackknife_mean += (sum - static_cast<double>(value)) / (n - 1) / n;
  for (const auto value : values) {
    const double deviation = jackknife_mean - (sum - static_cast<double>(value)) / (n - 1);
    cubes += std::pow(deviation, 3);
    squares += std::pow(deviation, 2);
  }
  const double a = cubes / (6 * std::pow(squares, 1.5)), z0 = phi_inverse((below + equal / 2) / total);
  const auto end = [&](double z) {
    const double p = phi(z0 + (z0 + z) / (1 - a * (z0 + z)));
    double cumulated = 0;
    for (const auto& [point, count] : ways) {
      if ((cumulated += count / total) >= p) return static_cast<double>(point) / n;
    }
    return static_cast<double>(ways.rbegin()->first) / n;
  };
  return {end(phi_inverse((1 - level) / 2)), end(phi_inverse((1 + level) / 2))};
}

TEST(Bootstrap, DistributionEqualsListingEveryResample) {
  for (std::int64_t code = 0; code < 4 * 4 * 4 * 4 * 4 * 4; code += 13) {  // six tasks, K = 3, every 13th table
    std::vector<std::int64_t> values;
    for (std::int64_t rest = code, i = 0; i < 6; ++i, rest /= 4) values.push_back(rest % 4);
    const Sample sample{3, {values}};
    const auto ways = enumerate(sample);
    expect_same(resampled_sum(sample), ways);
    if (code % 403 == 0) {
      EXPECT_EQ(enumerate_one_by_one(values), ways);
    }
    const auto ends = bca_ends(sample, 0.95);
    if (!ends) continue;
    const auto expected = bca_by_definition(values, ways, 0.95);
    EXPECT_NEAR(3 * ends->low, expected.low, 1e-12) << code;
    EXPECT_NEAR(3 * ends->high, expected.high, 1e-12) << code;
  }
}

TEST(Bootstrap, StratifiedDistributionEqualsListingEveryResample) {
  const Sample sample{3, {{0, 1, 3}, {2, 2, 3, 0}, {1, 1}}};
  expect_same(resampled_sum(sample), enumerate(sample));
}

TEST(Bootstrap, OneBinaryRunIsABinomial) {
  std::vector<std::int64_t> values(1500, 0);
  std::fill_n(values.begin(), 290, 1);
  const auto lattice = resampled_sum({1, {values}});
  const double p = 290.0 / 1500;
  for (const std::int64_t k : {180, 200, 290, 300, 400, 430}) {  // down to about 1e-19
    const double log_mass = std::lgamma(1501) - std::lgamma(k + 1.0) - std::lgamma(1501.0 - static_cast<double>(k)) +
                            static_cast<double>(k) * std::log(p) + static_cast<double>(1500 - k) * std::log1p(-p);
    const double expected = std::exp(log_mass);
    ASSERT_TRUE(k >= lattice.first && k <= lattice.last()) << k;
    // lgamma is good to about 1e-12 here.
    EXPECT_NEAR(lattice.mass[static_cast<std::size_t>(k - lattice.first)] / expected, 1, 2e-11) << k;
  }
}

TEST(Bootstrap, UnequalReplicatesMeetOnTheirCommonMultiple) {
  const std::vector<TaskCount> tasks{{1, 2, 0}, {1, 3, 0}, {3, 4, 0}};
  const auto sample = sample_of(tasks);
  EXPECT_EQ(sample.denominator, 12);
  EXPECT_THAT(sample.strata.at(0), testing::ElementsAre(6, 4, 9));
  expect_same(resampled_sum(sample), enumerate(sample));
}

TEST(Bootstrap, ReplicatesWithoutASmallCommonMultipleAreRefused) {
  const std::vector<TaskCount> tasks{{1, 9973, 0}, {1, 9967, 0}};
  try {
    sample_of(tasks);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("no common multiple under 2097152"));
  }
}

// Draws of a characteristic sum from listed values, each value once.
Summand draw_of(const std::vector<std::int64_t>& values) {
  std::map<std::int64_t, double> counts;
  for (const auto value : values) counts[value] += 1;
  Summand draw{{}, {}, values.size()};
  for (const auto& [value, count] : counts) {
    draw.values.push_back(value);
    draw.weights.push_back(count / static_cast<double>(values.size()));
  }
  return draw;
}

void expect_same_sums(const std::vector<std::vector<std::int64_t>>& strata) {
  std::vector<Summand> draws;
  for (const auto& stratum : strata) draws.push_back(draw_of(stratum));
  const CharacteristicSum quick(draws);
  const auto direct = resampled_sum({1, strata});
  double below = 0;
  for (std::int64_t point = direct.first - 2; point <= direct.last() + 2; ++point) {
    const bool inside = point >= direct.first && point <= direct.last();
    const double mass = inside ? direct.mass[static_cast<std::size_t>(point - direct.first)] : 0;
    ASSERT_NEAR(quick.mid_rank(point).below, below + mass / 2, 3e-14) << point;
    ASSERT_NEAR(quick.cumulated_at(point), below + mass, 3e-14) << point;
    below += mass;
  }
  for (const double level : {1e-7, 1e-4, 0.01, 0.025, 0.3, 0.5, 0.7, 0.975, 0.9999, 1 - 1e-7})
    EXPECT_EQ(quick.quantile(level), quantile(direct, {level, 1 - level})) << level;
}

TEST(CharacteristicSum, AgreesWithDirectProducts) {
  std::vector<std::int64_t> first, second, rare(150, 0), binary(60, 0);
  for (std::int64_t i = 0; i < 80; ++i) first.push_back((i * i) % 11), second.push_back(-(i % 7));
  rare[3] = 10, rare[4] = 1;
  std::fill_n(binary.begin(), 9, 1);
  expect_same_sums({first});
  expect_same_sums({first, second});
  expect_same_sums({rare});
  expect_same_sums({rare, first, binary});
  expect_same_sums({binary});
  expect_same_sums({{0, 3}});
  expect_same_sums({{-5, -5, -2, 1, 4, 4, 4, 10}, {7, 7, 10}});  // steps of three
}

TEST(CharacteristicSum, OneValueAloneIsCertain) {
  const CharacteristicSum sum(std::vector<Summand>{draw_of({4, 4, 4})});
  EXPECT_EQ(sum.cumulated_at(11), 0);
  EXPECT_EQ(sum.cumulated_at(12), 1);
  EXPECT_EQ(sum.quantile(0.5), 12);
}

TEST(Bootstrap, FineLatticeOfAPartialRunIsQuickAndNearItsNormalLimit) {
  std::vector<TaskCount> tasks;
  for (std::uint32_t i = 0; i < 600; ++i) tasks.push_back({i % (i % 10 + 1), i % 10 + 1, 0});  // K = 1..10: 2520ths
  const auto sample = sample_of(tasks);
  ASSERT_EQ(sample.denominator, 2520);
  const auto found = bca_ends(sample, 0.95);
  ASSERT_TRUE(found);
  const auto& ends = *found;
  double mean = mean_score(tasks), variance = 0;
  for (const auto& task : tasks)
    variance += std::pow(static_cast<double>(task.passed) / task.replicates - mean, 2) / 600;
  EXPECT_NEAR(ends.low, mean - 1.96 * std::sqrt(variance / 600), 1e-3);
  EXPECT_NEAR(ends.high, mean + 1.96 * std::sqrt(variance / 600), 1e-3);
}

TEST(Bootstrap, AccelerationOfOneBinaryMeanHasItsClosedForm) {
  std::vector<std::int64_t> values(60, 0);
  std::fill_n(values.begin(), 9, 1);
  const double p = 0.15;
  EXPECT_NEAR(acceleration({1, {values}}), (1 - 2 * p) / (6 * std::sqrt(60 * p * (1 - p))), 1e-14);
}

TEST(Bootstrap, AccelerationOfStrataIsTheJackknifeOfSeveralSamples) {
  // The general formula, with every theta_(si) computed by leaving a task out.
  const std::vector<std::vector<double>> strata{{0, 1, 3, 3}, {2, 2, 0, 0, 0, 1}, {3, 0, 0}};
  const double total = 13;
  const auto mean = [](const std::vector<double>& values, std::size_t without) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += i == without ? 0 : values[i];
    return sum / static_cast<double>(values.size() - (without < values.size()));
  };
  double cubes = 0, squares = 0;
  for (const auto& stratum : strata) {
    const auto n = static_cast<double>(stratum.size());
    for (std::size_t i = 0; i < stratum.size(); ++i) {
      const double influence = (n - 1) * (n / total) * (mean(stratum, stratum.size()) - mean(stratum, i));
      cubes += std::pow(influence / n, 3);
      squares += std::pow(influence / n, 2);
    }
  }
  EXPECT_NEAR(acceleration({3, {{0, 1, 3, 3}, {2, 2, 0, 0, 0, 1}, {3, 0, 0}}}), cubes / (6 * std::pow(squares, 1.5)),
              1e-14);
}

TEST(Bootstrap, ExtremeLevelsEndAtTheSupportInsteadOfWrappingAround) {
  // One dominating task: a is near its largest value 1/6, and z = 7 takes 1 - a (z0 + z) below 0.
  std::vector<std::int64_t> values(40, 0);
  values[0] = 10;
  const auto ends = bca_ends({10, {values}}, 1 - 1e-12);
  ASSERT_TRUE(ends);
  EXPECT_EQ(ends->low, 0);
  EXPECT_GE(ends->high, 0.25);
}

TEST(Lattice, QuantileTreatsATieAsReachedFromBothSides) {
  const Lattice fair{0, {0.25, 0.5, 0.25}};
  EXPECT_EQ(quantile(fair, {0.25, 0.75}), 0);
  EXPECT_EQ(quantile(fair, {0.2500001, 0.7499999}), 1);
  EXPECT_EQ(quantile(fair, {0.75, 0.25}), 1);
  EXPECT_EQ(quantile(fair, {0.7500001, 0.2499999}), 2);
  EXPECT_EQ(quantile(fair, {0, 1}), 0);
  EXPECT_EQ(quantile(fair, {1, 0}), 2);
}

TEST(Normal, QuantileInvertsTheDistributionFarIntoBothTails) {
  EXPECT_NEAR(critical_value(0.95), 1.959963984540054, 1e-14);
  for (const double z : {-30.0, -8.0, -1.0, 0.0, 0.5, 8.0, 30.0})
    EXPECT_NEAR(normal_quantile(normal_cdf(z)), z, 1e-12) << z;
}

}  // namespace
}  // namespace nkigrid::aggregate
