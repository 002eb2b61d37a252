#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "runner/nkisim/engine/rows.hpp"

namespace nkigrid::nkisim {
namespace {

using Reference = std::function<double(double)>;

double erf_dx(double x) { return 2 / std::sqrt(M_PI) * std::exp(-x * x); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
double gelu_dx(double x) {
  return 0.5 * (1 + std::erf(x / std::sqrt(2.0))) + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
}

std::vector<float> apply(const RowKernels& kernels, Fn fn, const std::vector<float>& x) {
  std::vector<float> out(x.size());
  const Operand<float> operand{x.data(), false};
  kernels.apply_f32(fn, &operand, x.size(), out.data());
  return out;
}

struct Case {
  Fn fn;
  double lo, hi;
  Reference reference;
  double relative, absolute;
};

TEST(Functions, AgreeWithDoublePrecision) {
  const std::vector<Case> cases{
      {Fn::exp, -87, 88, [](double v) { return std::exp(v); }, 2.5e-7, 0},
      {Fn::exp, -103, -87, [](double v) { return std::exp(v); }, 0, 2e-45},
      {Fn::log, 1e-30, 1e3, [](double v) { return std::log(v); }, 2.5e-7, 1e-7},
      {Fn::log, 0.5, 2, [](double v) { return std::log(v); }, 4e-7, 0},
      {Fn::tanh, -12, 12, [](double v) { return std::tanh(v); }, 4e-7, 0},
      {Fn::tanh, -1e-3, 1e-3, [](double v) { return std::tanh(v); }, 3e-7, 0},
      {Fn::sigmoid, -80, 80, sigmoid, 4e-7, 0},
      {Fn::erf, -5, 5, [](double v) { return std::erf(v); }, 5e-7, 0},
      {Fn::erf_dx, -6, 6, erf_dx, 4e-6, 0},
      {Fn::gelu, -6, 6, [](double v) { return v * 0.5 * (1 + std::erf(v / std::sqrt(2.0))); }, 3e-7, 4e-7},
      {Fn::gelu_dx, -6, 6, gelu_dx, 4e-7, 4e-7},
      {Fn::gelu_apprx_tanh, -6, 6,
       [](double v) { return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))); }, 3e-7,
       4e-7},
      {Fn::gelu_apprx_sigmoid, -20, 20, [](double v) { return v * sigmoid(1.702 * v); }, 3e-6, 0},
      {Fn::silu, -30, 30, [](double v) { return v * sigmoid(v); }, 2e-6, 0},
      {Fn::silu_dx, -30, 30, [](double v) { return sigmoid(v) * (1 + v * (1 - sigmoid(v))); }, 2e-6, 3e-7},
      {Fn::softplus, -80, 80, softplus, 6e-7, 0},
      {Fn::mish, -20, 20, [](double v) { return v * std::tanh(softplus(v)); }, 2e-6, 0},
      {Fn::sin, -20, 20, [](double v) { return std::sin(v); }, 2e-7, 1e-7},
      {Fn::arctan, -20, 20, [](double v) { return std::atan(v); }, 3e-7, 0},
      {Fn::rsqrt, 1e-10, 1e10, [](double v) { return 1 / std::sqrt(v); }, 2e-7, 0},
  };
  for (const RowKernels* kernels : {&kGenericRows, &row_kernels()}) {
    for (const Case& c : cases) {
      std::vector<float> in;
      for (int k = 0; k <= 20'000; ++k) in.push_back(static_cast<float>(c.lo + (c.hi - c.lo) * k / 20'000));
      const std::vector<float> out = apply(*kernels, c.fn, in);
      for (std::size_t k = 0; k < in.size(); ++k) {
        const double want = c.reference(static_cast<double>(in[k]));
        ASSERT_NEAR(static_cast<double>(out[k]), want, c.relative * std::abs(want) + c.absolute)
            << static_cast<int>(c.fn) << " at " << in[k];
      }
    }
  }
}

TEST(Functions, SpecialValuesAreThoseOfIeee) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> in{inf, -inf, nan, 0.0f};
  const auto check = [&](Fn fn, std::vector<float> want) {
    const std::vector<float> out = apply(row_kernels(), fn, in);
    for (std::size_t k = 0; k < in.size(); ++k) {
      if (std::isnan(want[k]))
        EXPECT_TRUE(std::isnan(out[k])) << static_cast<int>(fn) << " " << k;
      else
        EXPECT_EQ(out[k], want[k]) << static_cast<int>(fn) << " " << k;
    }
  };
  check(Fn::exp, {inf, 0, nan, 1});
  check(Fn::log, {inf, nan, nan, -inf});
  check(Fn::tanh, {1, -1, nan, 0});
  check(Fn::sigmoid, {1, 0, nan, 0.5f});
  check(Fn::erf, {1, -1, nan, 0});
  check(Fn::relu, {inf, 0, nan, 0});
  check(Fn::softplus, {inf, 0, nan, 0.693147181f});
  check(Fn::sign, {1, -1, nan, 0});
  check(Fn::reciprocal, {0, -0.0f, nan, inf});
}

TEST(Functions, PoisonSurvivesMaximumAndMinimum) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> a{nan, 1, 2}, b{1, nan, 3};
  for (const Fn fn : {Fn::maximum, Fn::minimum}) {
    std::vector<float> out(3);
    const Operand<float> operands[2] = {{a.data(), false}, {b.data(), false}};
    row_kernels().apply_f32(fn, operands, 3, out.data());
    EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[1]));
    EXPECT_EQ(out[2], fn == Fn::maximum ? 3.0f : 2.0f);
  }
}

TEST(Functions, BinaryFunctionsTakeScalarsOnEitherSide) {
  const std::vector<float> row{-7, 7, 5.5f}, scalar{2};
  std::vector<float> out(3);
  const auto go = [&](Fn fn, bool reversed) {
    const Operand<float> r{row.data(), false}, s{scalar.data(), true};
    const Operand<float> operands[2] = {reversed ? s : r, reversed ? r : s};
    row_kernels().apply_f32(fn, operands, 3, out.data());
    return out;
  };
  EXPECT_THAT(go(Fn::subtract, false), ::testing::ElementsAre(-9, 5, 3.5f));
  EXPECT_THAT(go(Fn::subtract, true), ::testing::ElementsAre(9, -5, -3.5f));
  EXPECT_THAT(go(Fn::mod, false), ::testing::ElementsAre(1, 1, 1.5f));    // the divisor's sign
  EXPECT_THAT(go(Fn::fmod, false), ::testing::ElementsAre(-1, 1, 1.5f));  // the dividend's
  EXPECT_THAT(go(Fn::power, false), ::testing::ElementsAre(49, 49, 30.25f));
  EXPECT_THAT(go(Fn::greater, false), ::testing::ElementsAre(0, 1, 1));
}

TEST(Functions, IntegersWrapAndShiftLogically) {
  const std::vector<std::int32_t> a{std::numeric_limits<std::int32_t>::max(), -7,
                                    std::numeric_limits<std::int32_t>::min()},
      b{1, 2, -1};
  std::vector<std::int32_t> out(3);
  const auto go = [&](Fn fn) {
    const Operand<std::int32_t> operands[2] = {{a.data(), false}, {b.data(), false}};
    row_kernels().apply_i32(fn, operands, 3, out.data());
    return out;
  };
  const std::int32_t low = std::numeric_limits<std::int32_t>::min();
  EXPECT_THAT(go(Fn::add), ::testing::ElementsAre(low, -5, std::numeric_limits<std::int32_t>::max()));
  EXPECT_THAT(go(Fn::divide), ::testing::ElementsAre(2147483647, -3, low));
  EXPECT_THAT(go(Fn::mod), ::testing::ElementsAre(0, 1, 0));
  EXPECT_THAT(go(Fn::shift_right), ::testing::ElementsAre(1073741823, 1073741822, 0));
  EXPECT_THAT(go(Fn::shift_left), ::testing::ElementsAre(-2, -28, 0));
}

}  // namespace
}  // namespace nkigrid::nkisim
