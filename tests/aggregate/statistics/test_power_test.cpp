#include "aggregate/statistics/test_power.hpp"

#include <gtest/gtest.h>

#include <cmath>

// Right values: ../independent_values.py.
namespace nkigrid::aggregate {
namespace {

const std::vector<double> kAlphas{0.05};

TEST(TestPower, OfOneReplicateIsTheExactPowerOfMcNemar) {
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

TEST(TestPower, OfSeveralReplicatesMeetsAnotherSimulation) {
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

TEST(TestPower, TheSmallestDifferenceHasThePowerAndABitLessHasNot) {
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

TEST(TestPower, NothingIsPromisedThatTheTestCannotReject) {
  // Six tasks must differ, and all one way, before the exact test reaches 0.05.
  const PairChances alike{0.5, 0.9, 0.9, 1};
  for (const std::uint32_t tasks : {7u, 12u, 24u}) {
    TestPower power(alike, {tasks, 1, 1}, kAlphas, 100);
    const auto smallest = power.smallest(0, 0.8);
    EXPECT_TRUE(!smallest || *smallest >= 6.0 / tasks) << tasks;
  }
  TestPower five({}, {5, 1, 1}, kAlphas, 100);
  EXPECT_FALSE(five.smallest(0, 0.8));
  EXPECT_EQ(five.at(0.7)[0], 0);
}

TEST(TestPower, MirrorsRatesAboveOneHalf) {
  TestPower low({0.2, 0.3, 0.3, 0.5}, {60, 1, 1}, kAlphas, 100), high({0.8, 0.3, 0.3, 0.5}, {60, 1, 1}, kAlphas, 100);
  EXPECT_NEAR(low.at(0.2)[0], high.at(0.2)[0], 1e-6);
}

}  // namespace
}  // namespace nkigrid::aggregate
