#include "aggregate/statistics/pair_power.hpp"

#include <gtest/gtest.h>

#include <cmath>

// Right values: ../independent_values.py.
namespace nkigrid::aggregate {
namespace {

const std::vector<double> kAlphas{0.05};

TEST(PairPower, OfOneReplicateIsThePowerOfMcNemarComputed) {
  struct Value {
    std::uint32_t tasks;
    double difference, discordance, power;
  };
  // Discordance from 200,000 quantiles, power from the trinomial.
  for (const auto& value : {Value{24, 0.3, 0.4401320666241968, 0.6246906004015376},
                            {60, 0.2, 0.37817353189900443, 0.7284997865790824},
                            {150, 0.1, 0.3199384852380738, 0.5877324102556624}}) {
    PairPower power({}, {value.tasks, 1, 1}, kAlphas, 100);
    EXPECT_EQ(power.draws(), 0u);
    EXPECT_NEAR(power.discordance(value.difference), value.discordance, 1e-3) << value.tasks;
    EXPECT_NEAR(power.at(value.difference)[0], value.power, 2e-3) << value.tasks;
  }
}

TEST(PairPower, OfSeveralReplicatesMeetsAnotherSimulation) {
  struct Value {
    std::uint32_t tasks, replicates;
    double difference, power;
  };
  // 4,000 grids of numpy's generator, sign-flip mid-p by convolution: standard error 0.008 there, 0.011 here.
  for (const auto& value :
       {Value{24, 3, 0.2, 0.645}, {60, 3, 0.15, 0.8348}, {60, 10, 0.1, 0.738}, {150, 3, 0.1, 0.8928}}) {
    PairPower power({}, {value.tasks, value.replicates, value.replicates}, kAlphas, 2000);
    EXPECT_NEAR(power.at(value.difference)[0], value.power, 0.04) << value.tasks << " x " << value.replicates;
  }
}

TEST(PairPower, OfTheExactTestIsTheTrinomialsSum) {
  // P(exact McNemar p <= 0.05) over the trinomial of 60 tasks, difference 0.2, discordance 0.378174, summed in Python.
  PairPower exact({}, {60, 1, 1}, kAlphas, 100, PValue::exact), mid({}, {60, 1, 1}, kAlphas, 100);
  EXPECT_NEAR(exact.at(0.2)[0], 0.6659464808, 2e-3);
  EXPECT_LT(exact.at(0.2)[0], mid.at(0.2)[0]);
  // With replicates it is simulated, and no more than the mid-p's on the same grids.
  PairPower exact3({}, {24, 3, 3}, kAlphas, 1000, PValue::exact), mid3({}, {24, 3, 3}, kAlphas, 1000);
  EXPECT_LE(exact3.at(0.2)[0], mid3.at(0.2)[0]);
  EXPECT_GT(exact3.at(0.2)[0], mid3.at(0.2)[0] - 0.12);
}

TEST(PairPower, TheSmallestDifferenceHasThePowerAndABitLessHasNot) {
  for (const std::uint32_t replicates : {1u, 3u}) {
    PairPower power({}, {60, replicates, replicates}, {0.05, 0.05 / 12}, 1000);
    const auto one = power.smallest(0, 0.8), in_family = power.smallest(1, 0.8);
    ASSERT_TRUE(one && in_family);
    EXPECT_NEAR(power.at(*one)[0], 0.8, 0.01);
    EXPECT_GE(power.at(*one)[0], 0.8);
    EXPECT_NEAR(power.at(*in_family)[1], 0.8, 0.01);
    EXPECT_LT(power.at(*one - 0.01)[0], 0.8);
    EXPECT_GT(*in_family, *one);
  }
}

TEST(PairPower, NothingIsPromisedThatTheTestCannotReject) {
  // Five tasks must differ, and all one way, before the mid-p reaches 0.05.
  const PairChances alike{0.5, 0.9, 0.9, 1};
  for (const std::uint32_t tasks : {7u, 12u, 24u}) {
    PairPower power(alike, {tasks, 1, 1}, kAlphas, 100);
    const auto smallest = power.smallest(0, 0.8);
    EXPECT_TRUE(!smallest || *smallest >= 5.0 / tasks) << tasks;
  }
  PairPower four({}, {4, 1, 1}, kAlphas, 100);
  EXPECT_FALSE(four.smallest(0, 0.8));
  EXPECT_EQ(four.at(0.7)[0], 0);
}

TEST(PairPower, MirrorsRatesAboveOneHalf) {
  PairPower low({0.2, 0.3, 0.3, 0.5}, {60, 1, 1}, kAlphas, 100), high({0.8, 0.3, 0.3, 0.5}, {60, 1, 1}, kAlphas, 100);
  EXPECT_NEAR(low.at(0.2)[0], high.at(0.2)[0], 1e-6);
}

}  // namespace
}  // namespace nkigrid::aggregate
