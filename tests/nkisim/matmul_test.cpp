#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "jobs/base/error.hpp"
#include "runner/nkisim/engine/run.hpp"
#include "tests/nkisim/make.hpp"

namespace nkigrid::nkisim {
namespace {

using namespace make;
using Floats = std::vector<float>;

struct Sizes {
  std::int64_t k = 0, m = 0, n = 0;
};

/// Small integers: every sum is exact, whatever its order.
Floats integers(std::int64_t n, int salt) {
  Floats result;
  for (std::int64_t k = 0; k < n; ++k) result.push_back(static_cast<float>((k * 31 + salt * 17) % 13 - 6));
  return result;
}

struct Form {
  Dtype operands = Dtype::float32;
  bool transposed_stationary = false;  ///< held (M, K)
  bool transposed_moving = false;      ///< held (N, K)
  int trips = 1;
  std::optional<double> fill;  ///< of PSUM
  bool accumulate = true;
  bool first_column_written = false;  ///< before the first matmul
  std::vector<Condition> mask = {};   ///< over (K, M, N)
};

Floats matmul(Sizes s, const Form& form) {
  Made m;
  const auto a = m.param({s.k, s.m}), b = m.param({s.k, s.n}), out = m.output({s.m, s.n});
  const auto at_ = form.transposed_stationary ? m.tile(BufferKind::sbuf, {s.m, s.k}, form.operands)
                                              : m.tile(BufferKind::sbuf, {s.k, s.m}, form.operands);
  const auto bt = form.transposed_moving ? m.tile(BufferKind::sbuf, {s.n, s.k}, form.operands)
                                         : m.tile(BufferKind::sbuf, {s.k, s.n}, form.operands);
  const auto psum = m.tile(BufferKind::psum, {s.m, s.n}, Dtype::float32, form.fill);
  const auto swapped = [&](std::uint32_t id, bool swap) {
    return swap ? access(id, {at({0, 1}), at({1, 0})}) : whole(id, 2);
  };
  m.program.body.push_back(
      {1, map(Instr::load, {s.k, s.m}, swapped(at_, form.transposed_stationary), {from(whole(a, 2))})});
  m.program.body.push_back({2, map(Instr::load, {s.k, s.n}, swapped(bt, form.transposed_moving), {from(whole(b, 2))})});
  if (form.first_column_written)
    m.program.body.push_back({3, map(Instr::memset, {s.m, 1}, access(psum, {at({1, 0}), at({0, 0})}), {value(1000)})});
  Matmul op;
  op.head.instr = Instr::matmul;
  op.head.engine = Engine::tensor;
  op.head.shape = {s.k, s.m, s.n};
  op.head.mask = form.mask;
  op.dst = access(psum, {at({0, 1, 0}), at({0, 0, 1})});
  op.stationary = form.transposed_stationary ? access(at_, {at({0, 1, 0}), at({1, 0, 0})})
                                             : access(at_, {at({1, 0, 0}), at({0, 1, 0})});
  op.moving =
      form.transposed_moving ? access(bt, {at({0, 0, 1}), at({1, 0, 0})}) : access(bt, {at({1, 0, 0}), at({0, 0, 1})});
  op.accumulate = form.accumulate;
  Loop loop;
  loop.trips = form.trips;
  loop.body.push_back({4, op});
  m.program.body.push_back({3, loop});
  const auto copy = m.tile(BufferKind::sbuf, {s.m, s.n});
  m.program.body.push_back(
      {5, map(Instr::tensor_copy, {s.m, s.n}, whole(copy, 2), {from(whole(psum, 2))}, {}, Work::raw)});
  m.program.body.push_back({6, map(Instr::store, {s.m, s.n}, whole(out, 2), {from(whole(copy, 2))}, {}, Work::raw)});
  return run(m.program, {integers(s.k * s.m, 1), integers(s.k * s.n, 2)});
}

Floats expected(Sizes s, float times, float base) {
  const Floats a = integers(s.k * s.m, 1), b = integers(s.k * s.n, 2);
  Floats out;
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < s.k; ++k)
        sum += a[static_cast<std::size_t>(k * s.m + i)] * b[static_cast<std::size_t>(k * s.n + j)];
      out.push_back(base + times * sum);
    }
  }
  return out;
}

TEST(Matmul, IsStationaryTransposedTimesMovingInEveryLayout) {
  for (const Sizes s : {Sizes{128, 128, 512}, Sizes{7, 5, 3}, Sizes{1, 1, 1}, Sizes{128, 1, 512}, Sizes{33, 128, 1}}) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        if (tb && s.n > 128) continue;  // partitions
        for (const Dtype dtype : {Dtype::float32, Dtype::bfloat16}) {
          EXPECT_EQ(matmul(s, {dtype, ta, tb}), expected(s, 1, 0)) << s.k << " " << ta << tb << to_string(dtype);
        }
      }
    }
  }
}

TEST(Matmul, FirstAccumulationOverwritesPsumThatWasNeverWritten) {
  EXPECT_EQ(matmul({16, 8, 32}, {.trips = 3}), expected({16, 8, 32}, 3, 0));
}

TEST(Matmul, AccumulatesOntoAFill) {
  EXPECT_EQ(matmul({16, 8, 32}, {.trips = 2, .fill = 5}), expected({16, 8, 32}, 2, 5));
}

TEST(Matmul, WithoutAccumulationItOverwrites) {
  EXPECT_EQ(matmul({16, 8, 32}, {.trips = 2, .fill = 5, .accumulate = false}), expected({16, 8, 32}, 1, 0));
}

TEST(Matmul, VirginIsKnownElementByElement) {
  Floats want = expected({16, 8, 32}, 2, 0);
  for (std::size_t row = 0; row < 8; ++row) want[row * 32] += 1000;
  EXPECT_EQ(matmul({16, 8, 32}, {.trips = 2, .first_column_written = true}), want);
}

TEST(Matmul, MaskTrimsEachAxisAndLeavesTheRestAsItWas) {
  const Sizes s{20, 12, 40};
  const auto below = [](std::size_t axis, std::int64_t limit) {  // limit - 1 - point[axis] >= 0
    Index index = at({0, 0, 0}, aff(limit - 1));
    index.slots[axis] = -1;
    return not_negative(index);
  };
  Index hole = at({1, 0, 0}, aff(-3));
  const Form form{
      .trips = 2, .fill = 5, .mask = {below(0, 9), below(1, 7), below(2, 30), {Condition::Kind::not_zero, hole}}};
  const Floats a = integers(s.k * s.m, 1), b = integers(s.k * s.n, 2);
  Floats want(static_cast<std::size_t>(s.m * s.n), 5);
  for (std::size_t i = 0; i < 7; ++i) {
    for (std::size_t j = 0; j < 30; ++j) {
      for (std::size_t k = 0; k < 9; ++k) want[i * 40 + j] += k == 3 ? 0 : 2 * a[k * 12 + i] * b[k * 40 + j];
    }
  }
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      Form each = form;
      each.transposed_stationary = ta;
      each.transposed_moving = tb;
      EXPECT_EQ(matmul(s, each), want) << ta << tb;
    }
  }
}

TEST(Matmul, ConditionOverTwoAxesIsRefused) {
  EXPECT_THROW(matmul({8, 8, 8}, {.mask = {not_negative(at({-1, -1, 0}, aff(9)))}}), Error);
}

}  // namespace
}  // namespace nkigrid::nkisim
