#include "runner/device/check/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/device/check/hints.hpp"

namespace nkigrid::device {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

struct Tensor {
  std::string dtype = "float32";
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
  TensorView view() const { return {dtype, shape, bytes}; }
};

template <class T>
void append(std::vector<std::byte>& bytes, double value) {
  const T typed = static_cast<T>(value);
  const auto* raw = reinterpret_cast<const std::byte*>(&typed);
  bytes.insert(bytes.end(), raw, raw + sizeof(T));
}

Tensor tensor(std::string dtype, std::vector<std::int64_t> shape, const std::vector<double>& values) {
  Tensor made{std::move(dtype), std::move(shape), {}};
  for (const double value : values) {
    if (made.dtype == "float32") append<float>(made.bytes, value);
    if (made.dtype == "int32") append<std::int32_t>(made.bytes, value);
    if (made.dtype == "uint8") append<std::uint8_t>(made.bytes, value);
  }
  return made;
}

Tensor tensor_of(const json& values, const json& test_case) {
  std::vector<double> numbers;
  for (const auto& value : values) {
    numbers.push_back(value.is_number() ? value.get<double>()
                      : value == "nan"  ? std::nan("")
                      : value == "inf"  ? HUGE_VAL
                                        : -HUGE_VAL);
  }
  return tensor(test_case.at("dtype"), test_case.at("shape"), numbers);
}

TEST(Verdict, AgreesWithTorchAndNumpy) {
  std::ifstream file(NKIGRID_TEST_DATA "/device/verdict_cases.json");
  const auto all = json::parse(file).at("cases");
  ASSERT_GE(all.size(), 20U);
  for (const auto& test_case : all) {
    SCOPED_TRACE(test_case.at("name").get<std::string>());
    const auto got = tensor_of(test_case.at("got"), test_case), want = tensor_of(test_case.at("want"), test_case);
    const auto verdict = compare(got.view(), want.view(), test_case.at("atol"), test_case.at("rtol"));
    EXPECT_EQ(verdict.mismatches == 0, test_case.at("allclose").get<bool>());
    EXPECT_EQ(verdict.mismatches, test_case.at("mismatches").get<std::uint64_t>());
    EXPECT_EQ(verdict.non_finite, test_case.at("non_finite").get<std::uint64_t>());
    if (!test_case.at("first").is_null()) {
      EXPECT_EQ(verdict.first, test_case.at("first").get<std::uint64_t>());
    }
    if (test_case.at("max_abs_err").is_null()) {
      EXPECT_TRUE(std::isinf(verdict.max_abs_err));
    } else {
      EXPECT_DOUBLE_EQ(verdict.max_abs_err, test_case.at("max_abs_err").get<double>());
    }
    if (!test_case.at("rel_l2").is_null()) {
      EXPECT_NEAR(verdict.rel_l2(), test_case.at("rel_l2").get<double>(), 1e-12 * (1 + verdict.rel_l2()));
    }
  }
}

/// Blocks that match are summed at once, others one by one: a tensor over several blocks is judged as its elements are.
TEST(Verdict, ALargeTensorIsJudgedAsItsElements) {
  constexpr std::size_t kCount = 1'300;
  const double infinite = HUGE_VAL, none = std::nan("");
  using Places = std::map<std::size_t, std::pair<double, double>>;  // by index: got, want
  for (const Places& odd :
       {Places{}, Places{{700, {3, 2}}, {900, {7, 2}}}, Places{{299, {1, infinite}}}, Places{{0, {infinite, 1}}},
        Places{{5, {infinite, infinite}}}, Places{{511, {none, 1}}, {512, {1, none}}}, Places{{1299, {0.5, 0}}}}) {
    std::vector<double> g(kCount), w(kCount);
    for (std::size_t i = 0; i < kCount; ++i) w[i] = std::sin(static_cast<double>(i)), g[i] = w[i] + 1e-4;
    for (const auto& [at, values] : odd) std::tie(g[at], w[at]) = values;
    const std::int64_t size = kCount;
    const auto whole = compare(tensor("float32", {size}, g).view(), tensor("float32", {size}, w).view(), 1e-3, 1e-3);
    TensorVerdict one_by_one;
    std::optional<std::uint64_t> first;
    for (std::size_t i = 0; i < kCount; ++i) {
      const auto one =
          compare(tensor("float32", {1}, {g[i]}).view(), tensor("float32", {1}, {w[i]}).view(), 1e-3, 1e-3);
      one_by_one.mismatches += one.mismatches;
      one_by_one.non_finite += one.non_finite;
      one_by_one.difference_squares += one.difference_squares;
      one_by_one.reference_squares += one.reference_squares;
      one_by_one.max_abs_err = std::max(one_by_one.max_abs_err, one.max_abs_err);
      if (one.mismatches == 1 && !first) first = i;
      if (one.mismatches == 1 && one.worst_err > one_by_one.worst_err)
        one_by_one.worst = i, one_by_one.worst_err = one.worst_err;
    }
    EXPECT_EQ(whole.mismatches, one_by_one.mismatches);
    EXPECT_EQ(whole.non_finite, one_by_one.non_finite);
    EXPECT_EQ(whole.max_abs_err, one_by_one.max_abs_err);
    EXPECT_NEAR(whole.difference_squares, one_by_one.difference_squares, 1e-12 * one_by_one.difference_squares);
    EXPECT_NEAR(whole.reference_squares, one_by_one.reference_squares, 1e-12 * one_by_one.reference_squares);
    if (!first) continue;
    EXPECT_EQ(whole.first, *first);
    EXPECT_EQ(whole.worst, one_by_one.worst);
  }
}

TEST(Verdict, IndexIsRowMajor) {
  const std::vector<std::int64_t> shape = {2, 3, 4};
  EXPECT_EQ(index_of(0, shape), (std::vector<std::int64_t>{0, 0, 0}));
  EXPECT_EQ(index_of(23, shape), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(index_of(6, shape), (std::vector<std::int64_t>{0, 1, 2}));
}

std::vector<double> ramp(std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(1 + 0.5 * static_cast<double>(i));
  return values;
}

TrialVerdict judge_one(const Tensor& got, const Tensor& want, const VerdictRules& rules = {}) {
  const std::vector<TensorView> g = {got.view()}, w = {want.view()};
  return compare_outputs(g, w, rules);
}

TEST(Verdict, TheWorstMismatchIsTheLargestErrorOfAllOutputs) {
  const auto a = tensor("float32", {2, 2}, {1, 2.5, 3, 4}), b = tensor("float32", {2}, {10, 17});
  const auto c = tensor("float32", {2, 2}, {1, 2, 3, 4.1}), d = tensor("float32", {2}, {10, 20});
  const std::vector<TensorView> got = {a.view(), b.view()}, want = {c.view(), d.view()};
  const auto trial = compare_outputs(got, want, {});
  ASSERT_TRUE(trial.first && trial.worst);
  EXPECT_EQ(describe(*trial.first), "[0, 1] of output 0 is 2.5, the reference 2");
  EXPECT_EQ(describe(*trial.worst), "[1] of output 1 is 17, the reference 20");
  EXPECT_EQ(trial.mismatches, 3U);
  EXPECT_EQ(trial.elements, 6U);
}

TEST(Verdict, WhatIsNotFiniteIsWorseThanAnyNumber) {
  const auto a = tensor("float32", {4}, {1e30, 2, std::nan(""), HUGE_VAL}), b = tensor("float32", {4}, {1, 2, 3, 4});
  const std::vector<TensorView> got = {a.view()}, want = {b.view()};
  EXPECT_EQ(describe(*compare_outputs(got, want, {}).worst), "[2] of output 0 is nan, the reference 3");
}

TEST(Verdict, AnErrorThatTheToleranceAllowsIsNotTheWorst) {
  const auto a = tensor("float32", {2}, {100050, 1.01}), b = tensor("float32", {2}, {100000, 1});
  const std::vector<TensorView> got = {a.view()}, want = {b.view()};
  EXPECT_EQ(compare_outputs(got, want, {}).worst->index, std::vector<std::int64_t>{1});
}

TEST(Verdict, FirstMismatchNamesOutputIndexAndValues) {
  auto values = ramp(12);
  const auto want = tensor("float32", {3, 4}, values);
  values[7] = -1;
  const auto first = judge_one(tensor("float32", {3, 4}, values), want).first;
  ASSERT_TRUE(first);
  EXPECT_EQ(first->index, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(first->got, -1);
  EXPECT_EQ(first->want, 4.5);
}

TEST(Verdict, ZerosUnderTheToleranceArePaperButNotStrict) {
  const auto want = tensor("float32", {4}, {1e-4, -2e-4, 3e-4, 5e-4}), got = tensor("float32", {4}, {0, 0, 0, 0});
  const auto verdict = judge_one(got, want);
  EXPECT_TRUE(verdict.paper_ok);
  EXPECT_FALSE(verdict.strict_ok);
  EXPECT_EQ(verdict.rel_l2, 1);
}

TEST(Verdict, ConstantOutputWhereTheReferenceVariesIsNotStrict) {
  const auto want = tensor("float32", {3}, {100, 100.001, 100.002}),
             got = tensor("float32", {3}, {100.001, 100.001, 100.001});
  const auto verdict = judge_one(got, want);
  EXPECT_TRUE(verdict.paper_ok);
  EXPECT_LT(verdict.rel_l2, 1e-4);
  EXPECT_FALSE(verdict.strict_ok);
}

TEST(Verdict, ConstantOutputOfAConstantReferenceIsStrict) {
  const auto same = tensor("float32", {2}, {7, 7});
  EXPECT_TRUE(judge_one(same, same).strict_ok);
}

TEST(Verdict, BfloatInputsHaveTheWiderStrictLimit) {
  jobs::Task task;
  task.inputs = {{"x", {4}, "float32", "input"}};
  EXPECT_EQ(rel_l2_limit_of(task), 1e-4);
  task.inputs.push_back({"w", {4}, "bfloat16", "parameter"});
  EXPECT_EQ(rel_l2_limit_of(task), 5e-3);
}

std::vector<std::string> hints(const Tensor& got, const Tensor& want) {
  return hints_for(0, got.view(), want.view(), compare(got.view(), want.view(), 1e-3, 1e-3), {});
}

TEST(Hints, MatchingOutputHasNone) {
  const auto same = tensor("float32", {3, 4}, ramp(12));
  EXPECT_THAT(hints(same, same), IsEmpty());
}

TEST(Hints, TransposedOutputIsNamed) {
  const auto want = tensor("float32", {2, 3}, {1, 2, 3, 4, 5, 6}), got = tensor("float32", {2, 3}, {1, 4, 2, 5, 3, 6});
  EXPECT_THAT(hints(got, want), Contains(HasSubstr("last two axes exchanged")));
}

TEST(Hints, TailRowsAreLocated) {
  auto values = ramp(40);
  const auto want = tensor("float32", {10, 4}, values);
  for (std::size_t i = 32; i < 40; ++i) values[i] += 1.0 + 0.3 * static_cast<double>(i % 3);
  EXPECT_THAT(hints(tensor("float32", {10, 4}, values), want), Contains(HasSubstr("lie in [8:10, :] of [10, 4]")));
}

TEST(Hints, CommonFactorIsNamed) {
  auto values = ramp(12);
  const auto want = tensor("float32", {12}, values);
  for (auto& value : values) value *= 0.25;
  EXPECT_THAT(hints(tensor("float32", {12}, values), want), Contains(HasSubstr("0.25 times the reference")));
}

TEST(Hints, BfloatRoundingIsRecognised) {
  std::vector<double> values = ramp(64);
  for (auto& value : values) value = value * 1.2345;
  const auto want = tensor("float32", {64}, values);
  for (std::size_t i = 0; i < values.size(); ++i) {  // keep the upper half of the bits: bfloat16 by truncation
    float f = static_cast<float>(values[i]);
    std::uint32_t bits;
    std::memcpy(&bits, &f, 4);
    bits &= 0xffff0000U;
    std::memcpy(&f, &bits, 4);
    values[i] = f;
  }
  EXPECT_THAT(hints(tensor("float32", {64}, values), want), Contains(HasSubstr("bfloat16")));
}

TEST(Hints, ZerosAndNansAreNamed) {
  const auto want = tensor("float32", {4}, ramp(4));
  EXPECT_THAT(hints(tensor("float32", {4}, {0, 0, 0, 0}), want), Contains(HasSubstr("every element is zero")));
  EXPECT_THAT(hints(tensor("float32", {4}, {1, std::nan(""), 2, std::nan("")}), want),
              Contains(HasSubstr("2 of 4 elements are NaN")));
}

}  // namespace
}  // namespace nkigrid::device
