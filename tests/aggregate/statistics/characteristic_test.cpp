#include "aggregate/statistics/characteristic.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "aggregate/statistics/normal.hpp"

namespace nkigrid::aggregate {
namespace {

using Masses = std::map<std::int64_t, double>;

// Every draw of every listed value, one after the other.
Masses direct_sums(const std::vector<std::vector<std::int64_t>>& strata) {
  Masses sums{{0, 1.0}};
  for (const auto& stratum : strata) {
    for (std::size_t draw = 0; draw < stratum.size(); ++draw) {
      Masses next;
      for (const auto& [sum, mass] : sums) {
        for (const auto value : stratum) next[sum + value] += mass / static_cast<double>(stratum.size());
      }
      sums = std::move(next);
    }
  }
  return sums;
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
  const auto direct = direct_sums(strata);
  EXPECT_NEAR(quick.cumulated_at(direct.begin()->first - 1), 0, 3e-14);
  double below = 0;
  for (const auto& [point, mass] : direct) {
    below += mass;
    ASSERT_NEAR(quick.cumulated_at(point), below, 3e-14) << point;
  }
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
}

TEST(Normal, QuantileInvertsTheDistributionFarIntoBothTails) {
  EXPECT_NEAR(critical_value(0.95), 1.959963984540054, 1e-14);
  for (const double z : {-30.0, -8.0, -1.0, 0.0, 0.5, 8.0, 30.0})
    EXPECT_NEAR(normal_quantile(normal_cdf(z)), z, 1e-12) << z;
}

}  // namespace
}  // namespace nkigrid::aggregate
