#include "jobs/base/outcome.hpp"

#include <gtest/gtest.h>

#include <set>

namespace nkigrid {
namespace {

TEST(Outcome, WordsReadBack) {
  std::set<std::string_view> words;
  for (int i = 0; i < kOutcomes; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    EXPECT_EQ(parse_outcome(to_string(outcome)), outcome);
    words.insert(to_string(outcome));
  }
  EXPECT_EQ(words.size(), static_cast<std::size_t>(kOutcomes));
  EXPECT_FALSE(parse_outcome("passed"));
  for (int i = 0; i < kCodes; ++i) EXPECT_EQ(parse_code(to_string(static_cast<Code>(i))), static_cast<Code>(i));
  EXPECT_EQ(to_string(Code::wrong_output_shape_dtype), "WRONG_OUTPUT_SHAPE_DTYPE");
  for (const auto* word : {"compiled", "verified", "stopped", "turns", "context_full", "refused"})
    EXPECT_EQ(to_string(*parse_ended_by(word)), word);
  for (const auto* word : {"ok", "no_code", "bad_tool_args", "truncated", "refused"})
    EXPECT_EQ(to_string(*parse_turn_event(word)), word);
}

TEST(Outcome, AMachinesFaultIsNeverScored) {
  for (const auto outcome : {Outcome::api_error, Outcome::verifier_error, Outcome::device_error, Outcome::killed})
    EXPECT_FALSE(is_scored(outcome));
  for (const auto outcome : {Outcome::pass, Outcome::compile_timeout, Outcome::refused, Outcome::cheat})
    EXPECT_TRUE(is_scored(outcome));
}

TEST(Outcome, CodesMapAsTheKernelInterfaceSays) {
  EXPECT_EQ(outcome_of(Code::compile_timeout, Stage::backend), Outcome::compile_timeout);
  EXPECT_EQ(outcome_of(Code::runtime_device, Stage::run), Outcome::run_fail);
  EXPECT_EQ(outcome_of(Code::oob, Stage::run), Outcome::run_fail);
  EXPECT_EQ(outcome_of(Code::oob, Stage::trace), Outcome::compile_fail);
  for (const auto code : {Code::wrong_output_shape_dtype, Code::numeric_mismatch, Code::non_finite_uninit})
    EXPECT_EQ(outcome_of(code, Stage::verify), Outcome::mismatch);
  EXPECT_EQ(outcome_of(Code::rule_violation, Stage::run), Outcome::cheat);
  EXPECT_EQ(outcome_of(Code::infra, Stage::infra), Outcome::verifier_error);
  for (const auto code : {Code::py_syntax, Code::py_exception, Code::unknown_api, Code::partition_limit,
                          Code::compiler_internal, Code::capacity})
    EXPECT_EQ(outcome_of(code, Stage::trace), Outcome::compile_fail);
}

TEST(Outcome, TheTwentyGroupsOfThePlots) {
  std::set<std::string_view> groups;
  for (int i = 1; i < kCodes; ++i) groups.insert(group_of(static_cast<Code>(i)));
  EXPECT_EQ(groups.size(), 21U) << "twenty and INFRA";
  EXPECT_EQ(group_of(Code::matmul_limit), "TILE_LIMIT");
}

}  // namespace
}  // namespace nkigrid
