#include <gtest/gtest.h>

#include <cmath>

#include "aggregate/evidence/reward.hpp"

namespace nkigrid::aggregate {
namespace {

log::End ended(Outcome outcome, Stage stage = Stage::none, Code code = Code::none) {
  log::End end;
  end.outcome = outcome;
  end.stage = stage;
  end.code = code;
  end.estimate_us = 40;
  return end;
}

double graded(const log::End& end, const char* findings = "") { return reward_of(end, findings, 10).graded; }

TEST(Reward, TheBinaryOneIsThePapers) {
  EXPECT_EQ(reward_of(ended(Outcome::pass), "", 10).binary, 1.0);
  for (const auto outcome : {Outcome::compile_fail, Outcome::mismatch, Outcome::no_code, Outcome::cheat})
    EXPECT_EQ(reward_of(ended(outcome), "", 10).binary, -0.5);
}

// By hand, -0.5 + 1.5 (stages / 2 + elements / 4 + speed / 4).
TEST(Reward, TheGradedOneGrowsWithStageElementsAndSpeed) {
  EXPECT_DOUBLE_EQ(graded(ended(Outcome::no_code)), -0.5);
  EXPECT_DOUBLE_EQ(graded(ended(Outcome::cheat, Stage::verify, Code::rule_violation)), -0.5);
  EXPECT_DOUBLE_EQ(graded(ended(Outcome::compile_fail, Stage::parse, Code::py_syntax)), -0.5 + 1.5 * 0.2 / 2);
  EXPECT_DOUBLE_EQ(graded(ended(Outcome::compile_fail, Stage::trace, Code::dtype)), -0.5 + 1.5 * 0.4 / 2);
  EXPECT_DOUBLE_EQ(graded(ended(Outcome::compile_timeout, Stage::backend, Code::compile_timeout)),
                   -0.5 + 1.5 * 0.6 / 2);
  EXPECT_DOUBLE_EQ(graded(ended(Outcome::run_fail, Stage::run, Code::oob)), -0.5 + 1.5 * 0.8 / 2);
  EXPECT_DOUBLE_EQ(graded(ended(Outcome::mismatch, Stage::verify, Code::wrong_output_shape_dtype)), 0.25);
  EXPECT_DOUBLE_EQ(graded(ended(Outcome::mismatch, Stage::verify, Code::numeric_mismatch),
                          R"({"message":"x","elements":400,"mismatches":100})"),
                   0.25 + 1.5 * 0.75 / 4);
  EXPECT_DOUBLE_EQ(graded(ended(Outcome::pass)), 0.25 + 1.5 * (1 + 10.0 / 40) / 4);
}

TEST(Reward, AtTheRooflineItIsOneAndNeverMore) {
  auto end = ended(Outcome::pass);
  for (const double us : {10.0, 2.0}) {
    end.estimate_us = us;
    EXPECT_DOUBLE_EQ(graded(end), 1);
  }
}

TEST(Reward, NoFailureIsWorthAPass) {
  auto slow = ended(Outcome::pass);
  slow.estimate_us = 1e12;
  EXPECT_GT(graded(slow), graded(ended(Outcome::mismatch, Stage::verify, Code::numeric_mismatch),
                                 R"({"elements":1000000,"mismatches":1})"));
}

TEST(Reward, WhatTheLogDoesNotSayIsNoNumber) {
  const auto mismatch = ended(Outcome::mismatch, Stage::verify, Code::numeric_mismatch);
  for (const auto* findings : {"", "{}", "[]", "not JSON", R"({"elements":"4","mismatches":1})"}) {
    EXPECT_TRUE(std::isnan(reward_of(mismatch, findings, 10).elements)) << findings;
    EXPECT_TRUE(std::isnan(graded(mismatch, findings)));
  }
  EXPECT_TRUE(std::isnan(reward_of(ended(Outcome::pass), "", 0).speed)) << "no roofline";
  auto unmeasured = ended(Outcome::pass);
  unmeasured.estimate_us = log::kNotMeasured;
  EXPECT_TRUE(std::isnan(graded(unmeasured)));
  EXPECT_EQ(reward_of(unmeasured, "", 10).binary, 1.0);
}

TEST(Reward, AMachinesFaultHasNone) {
  const auto reward = reward_of(ended(Outcome::killed), "", 10);
  EXPECT_TRUE(std::isnan(reward.binary));
  EXPECT_TRUE(std::isnan(reward.graded));
}

}  // namespace
}  // namespace nkigrid::aggregate
