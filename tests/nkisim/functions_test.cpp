#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "runner/nkisim/engine/rows.hpp"

namespace nkigrid::nkisim {
namespace {

using Reference = std::function<double(double)>;

double erf_dx(double x) { return 2 / std::sqrt(M_PI) * std::exp(-x * x); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
double normal(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }
double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * M_PI); }
double gelu_tanh(double x) { return x * sigmoid(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)); }
double silu_dx(double x) { return sigmoid(x) * (1 + x * sigmoid(-x)); }

std::vector<float> apply(const RowKernels& kernels, Fn fn, const std::vector<float>& x) {
  std::vector<float> out(x.size());
  const Operand<float> operand{x.data(), false};
  kernels.apply_f32(fn, &operand, x.size(), out.data());
  return out;
}

/// Spacing of floats at a value's size.
double ulp(double value) {
  const float size = std::abs(static_cast<float>(value));
  return static_cast<double>(std::nextafterf(size, std::numeric_limits<float>::infinity())) - static_cast<double>(size);
}

struct Case {
  Fn fn;
  double lo, hi;
  Reference reference;
  double absolute = 0;  ///< beside the ulp: where the function has a zero that is no float
};

const std::vector<Case> kCases{
    {Fn::exp, -104, 88.7, [](double v) { return std::exp(v); }},
    {Fn::log, 1e-30, 1e3, [](double v) { return std::log(v); }},
    {Fn::log, 0.5, 2, [](double v) { return std::log(v); }},
    {Fn::log, 1e-44, 1e-38, [](double v) { return std::log(v); }},
    {Fn::tanh, -12, 12, [](double v) { return std::tanh(v); }},
    {Fn::tanh, -1e-3, 1e-3, [](double v) { return std::tanh(v); }},
    {Fn::sigmoid, -100, 80, sigmoid},
    {Fn::erf, -5, 5, [](double v) { return std::erf(v); }},
    {Fn::erf_dx, -9, 9, erf_dx},
    {Fn::gelu, -13, 13, [](double v) { return v * normal(v); }},
    {Fn::gelu_dx, -13, 13, [](double v) { return normal(v) + v * normal_density(v); }, 1e-9},
    {Fn::gelu_apprx_tanh, -8, 8, gelu_tanh},
    {Fn::gelu_apprx_sigmoid, -40, 40, [](double v) { return v * sigmoid(1.702 * v); }},
    {Fn::silu, -90, 30, [](double v) { return v * sigmoid(v); }},
    {Fn::silu_dx, -30, 30, silu_dx, 1e-9},
    {Fn::softplus, -100, 80, softplus},
    {Fn::mish, -90, 40, [](double v) { return v * std::tanh(softplus(v)); }},
    {Fn::sin, -1e5, 1e5, [](double v) { return std::sin(v); }},
    {Fn::sin, -1e9, 1e9, [](double v) { return std::sin(v); }},
    {Fn::cos, -40, 40, [](double v) { return std::cos(v); }},
    {Fn::tan, -40, 40, [](double v) { return std::tan(v); }},
    {Fn::arctan, -20, 20, [](double v) { return std::atan(v); }},
    {Fn::rsqrt, 1e-10, 1e10, [](double v) { return 1 / std::sqrt(v); }},
};

TEST(Functions, AreWithinOneUlpOfDoublePrecision) {
  for (const RowKernels* kernels : runnable_rows()) {
    for (const Case& c : kCases) {
      std::vector<float> in;
      for (int k = 0; k <= 20'000; ++k) in.push_back(static_cast<float>(c.lo + (c.hi - c.lo) * k / 20'000));
      const std::vector<float> out = apply(*kernels, c.fn, in);
      for (std::size_t k = 0; k < in.size(); ++k) {
        const double want = c.reference(static_cast<double>(in[k]));
        ASSERT_NEAR(static_cast<double>(out[k]), want, ulp(want) + c.absolute)
            << static_cast<int>(c.fn) << " at " << in[k];
      }
    }
  }
}

TEST(Functions, PowersAreThoseOfC) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values{0.0f,  -0.0f, 1,     -1,     2,     -2,  3,    -3, 0.5f,
                                  -0.5f, 1.7f,  -2.3f, 1e-20f, 7e19f, inf, -inf, nan};
  for (const RowKernels* kernels : runnable_rows()) {
    for (const float b : values) {
      std::vector<float> out(values.size());
      const std::vector<float> exponents(values.size(), b);
      for (const bool scalar : {false, true}) {
        const Operand<float> operands[2] = {{values.data(), false}, {exponents.data(), scalar}};
        kernels->apply_f32(Fn::power, operands, values.size(), out.data());
        for (std::size_t k = 0; k < values.size(); ++k) {
          const auto want = static_cast<float>(std::pow(static_cast<double>(values[k]), static_cast<double>(b)));
          EXPECT_TRUE(out[k] == want || (std::isnan(out[k]) && std::isnan(want)))
              << values[k] << " ^ " << b << ": " << out[k] << ", wanted " << want;
        }
      }
    }
  }
}

TEST(Functions, RemaindersAreExactWhateverTheQuotient) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> a{7, -7, 5.5f, 1e30f, -3e8f, 0.3f, 16777216, 5, 0, -0.0f, inf, 3},
      b{2, 2, -2, 3, 7e-3f, 0.1f, 0.1f, inf, 3, 3, 3, 0};
  for (const RowKernels* kernels : runnable_rows()) {
    for (std::size_t n = 1; n <= a.size(); ++n) {  // alone and among neighbours that the vector form does not hold for
      std::vector<float> out(n);
      const Operand<float> operands[2] = {{a.data(), false}, {b.data(), false}};
      kernels->apply_f32(Fn::fmod, operands, n, out.data());
      for (std::size_t k = 0; k < n; ++k) {
        const float want = std::fmod(a[k], b[k]);
        EXPECT_TRUE(out[k] == want || (std::isnan(out[k]) && std::isnan(want))) << a[k] << " " << b[k] << " " << out[k];
      }
    }
  }
}

TEST(Functions, LongSumsLoseNothing) {
  const std::vector<float> ones(kChunk, 1.0f + 0x1p-20f);
  for (const RowKernels* kernels : runnable_rows()) {
    double lanes[kLanes] = {};
    for (int k = 0; k < 4096; ++k) kernels->fold_f32(Fn::add, lanes, ones.data(), ones.size(), 0);
    EXPECT_EQ(kernels->join_f32(Fn::add, lanes), static_cast<float>(4096.0 * kChunk * (1 + 0x1p-20)));
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

#if defined(__x86_64__) && defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
/// Elements a cycle of the time stamp counter, of the quickest of many rows: what else the machine does takes no part.
double speed(const RowKernels& kernels, Fn fn) {
  std::vector<float> x(kChunk), y(kChunk), out(kChunk);
  for (std::size_t j = 0; j < kChunk; ++j) {
    x[j] = 0.01f + static_cast<float>(j) / 100;
    y[j] = 1.501f + static_cast<float>(j % 7);
  }
  const Operand<float> operands[3] = {{x.data(), false}, {y.data(), false}, {y.data(), false}};
  std::uint64_t best = ~0ULL;
  for (int k = 0; k < 500; ++k) {
    const std::uint64_t begin = __builtin_ia32_rdtsc();
    kernels.apply_f32(fn, operands, kChunk, out.data());
    best = std::min<std::uint64_t>(best, __builtin_ia32_rdtsc() - begin);
  }
  return static_cast<double>(kChunk) / static_cast<double>(best);
}

/// Floors at a third of what AVX2 does on a Zen 4 core. An element at a time, none of these functions comes near: exp
/// has 0.03 then, an addition 1.
TEST(Functions, RunAsVectorCode) {
  if (runnable_rows().size() < 2) GTEST_SKIP() << "this processor has no AVX2";
  const std::vector<std::pair<Fn, double>> floors{
      {Fn::add, 2},      {Fn::maximum, 2},    {Fn::select, 2},  {Fn::exp, 0.1},      {Fn::log, 0.09},
      {Fn::tanh, 0.1},   {Fn::sigmoid, 0.09}, {Fn::gelu, 0.04}, {Fn::gelu_dx, 0.03}, {Fn::gelu_apprx_tanh, 0.07},
      {Fn::silu, 0.08},  {Fn::silu_dx, 0.07}, {Fn::erf, 0.04},  {Fn::erf_dx, 0.09},  {Fn::softplus, 0.05},
      {Fn::mish, 0.06},  {Fn::sin, 0.14},     {Fn::cos, 0.14},  {Fn::tan, 0.12},     {Fn::arctan, 0.09},
      {Fn::rsqrt, 0.15}, {Fn::power, 0.03},   {Fn::mod, 0.1},   {Fn::fmod, 0.13},
  };
  for (const RowKernels* kernels : runnable_rows().subspan(1)) {
    for (const auto& [fn, floor] : floors) EXPECT_GT(speed(*kernels, fn), floor) << to_string(fn);
  }
}
#endif

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
