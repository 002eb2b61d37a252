#include "runner/nkisim/diagnose/diagnose.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/nkisim/diagnose/orders.hpp"
#include "runner/nkisim/diagnose/overwrites.hpp"
#include "runner/nkisim/program/validate.hpp"
#include "tests/nkisim/make.hpp"

namespace nkigrid::nkisim {
namespace {

using namespace make;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Diagnosis diagnosis_of(const Program& program, const std::vector<std::vector<float>>& inputs) {
  validate(program);
  std::vector<std::span<const std::byte>> in;
  for (const auto& input : inputs) in.push_back(bytes_of(input));
  return diagnose(program, in, {});
}

std::vector<OrderFinding> orders_of(const Program& program, const std::vector<std::vector<float>>& inputs,
                                    std::uint64_t seed = 1) {
  validate(program);
  std::vector<std::span<const std::byte>> in;
  for (const auto& input : inputs) in.push_back(bytes_of(input));
  return compare_orders(program, in, {}, seed);
}

/// out = fn(x) by one (4, 8) tile, on lines 7 (tile `t`), 8 and 9.
Program one_function(Fn fn, std::vector<Condition> mask = {}) {
  Made m;
  const auto x = m.param({4, 8}), out = m.output({4, 8});
  m.program.buffers[x].name = "x";
  const auto t = m.tile(BufferKind::sbuf, {4, 8}), r = m.tile(BufferKind::sbuf, {4, 8});
  m.program.buffers[t].name = "t";
  m.program.buffers[t].line = 7;
  Map load = map(Instr::load, {4, 8}, whole(t, 2), {from(whole(x, 2))}, {}, Work::raw);
  load.head.mask = std::move(mask);
  m.program.body.push_back({7, load});
  m.program.body.push_back({8, map(Instr::activation, {4, 8}, whole(r, 2), {from(whole(t, 2))}, {{fn, {0}}})});
  m.program.body.push_back({9, map(Instr::store, {4, 8}, whole(out, 2), {from(whole(r, 2))}, {}, Work::raw)});
  return m.program;
}

TEST(Diagnose, AReadOfMaskedOffLanesIsNamedByVariableIndexAndLine) {
  const Program program = one_function(Fn::square, {not_negative(at({-1, 0}, aff(2)))});  // rows 0 to 2
  EXPECT_THAT(diagnosis_of(program, {std::vector<float>(32, 1)}).causes,
              ElementsAre("variable `t` (line 7) was read before it was written, first at [3, 0] by line 8"));
}

TEST(Diagnose, UndefinedMemoryThatNoOutputDependsOnIsNoCause) {
  Program program = one_function(Fn::square, {not_negative(at({-1, 0}, aff(2)))});
  Map& store = std::get<Map>(program.body.back().what);
  store.head.mask = {not_negative(at({-1, 0}, aff(2)))};
  EXPECT_THAT(diagnosis_of(program, {std::vector<float>(32, 1)}).causes, IsEmpty());
}

TEST(Diagnose, EachFunctionOutsideOfItsRangeIsNamedWithTheValuesSeen) {
  std::vector<float> x(32, 0.5f);
  x[5] = 100;
  EXPECT_THAT(diagnosis_of(one_function(Fn::exp), {x}).causes,
              ElementsAre("exp at line 8 overflows above 88.7: 1 of 32 values made of variable `t` (line 7) lie "
                          "outside (seen: 0.5 to 100); "
                          "subtract the row's maximum first"));
  x[5] = 4;
  EXPECT_THAT(diagnosis_of(one_function(Fn::sin), {x}).causes,
              ElementsAre(HasSubstr("sin at line 8 is exact on [-pi, pi] alone: 1 of 32 values")));
  x[5] = 0;
  EXPECT_THAT(diagnosis_of(one_function(Fn::log), {x}).causes,
              ElementsAre(HasSubstr("log at line 8 needs values above 0")));
  EXPECT_THAT(diagnosis_of(one_function(Fn::reciprocal), {x}).causes,
              ElementsAre(HasSubstr("reciprocal at line 8 divides by 0")));
  EXPECT_THAT(diagnosis_of(one_function(Fn::sqrt), {x}).causes, IsEmpty());
  x[5] = x[6] = -1e-3f;
  EXPECT_THAT(diagnosis_of(one_function(Fn::sqrt), {x}).causes,
              ElementsAre(AllOf(HasSubstr("2 of 32 values"), HasSubstr("(seen: -0.001 to 0.5)"))));
  EXPECT_THAT(diagnosis_of(one_function(Fn::rsqrt), {x}).causes, ElementsAre(HasSubstr("add an epsilon")));
}

TEST(Diagnose, ArgumentsInsideTheirRangeAreNoCause) {
  for (const Fn fn : {Fn::exp, Fn::log, Fn::sqrt, Fn::rsqrt, Fn::reciprocal, Fn::sin, Fn::cos}) {
    EXPECT_THAT(diagnosis_of(one_function(fn), {std::vector<float>(32, 3.14159f)}).causes, IsEmpty())
        << static_cast<int>(fn);
  }
}

TEST(Diagnose, VariablesOfFewBitsAreListedForErrorsOfThatSize) {
  Program program = one_function(Fn::square);
  program.buffers[3].dtype = Dtype::bfloat16;
  program.buffers[3].name = "h";
  std::get<Map>(program.body.back().what).work = Work::float32;
  EXPECT_THAT(diagnosis_of(program, {std::vector<float>(32, 1)}).narrow,
              ElementsAre("variable `h` (line 1) is held in bfloat16, which rounds to 2^-8 relative"));
  EXPECT_THAT(diagnosis_of(one_function(Fn::square), {std::vector<float>(32, 1)}).narrow, IsEmpty());
}

/// for i in 1..7: out[i] = out[i - 1] + x[i], through an HBM scratch `s` that starts as x[0].
Program prefix_sum(bool sequential) {
  Made m;
  const auto x = m.param({8, 4}), out = m.output({8, 4});
  const auto s = m.tile(BufferKind::hbm, {8, 4});
  const std::uint32_t i = m.loop_atom(0);
  Loop loop;
  loop.name = "i";
  loop.sequential = sequential;
  loop.trips = 7;
  const auto a = m.tile(BufferKind::sbuf, {1, 4}, Dtype::float32, {}, &loop.body),
             b = m.tile(BufferKind::sbuf, {1, 4}, Dtype::float32, {}, &loop.body);
  const auto c = m.tile(BufferKind::sbuf, {1, 4}, Dtype::float32, {}, &loop.body);
  const auto row = [&](std::uint32_t id, std::int64_t by) {
    return access(id, {at({1, 0}, aff(by, {{i, 1}})), at({0, 1})});
  };
  m.program.body.push_back({2, map(Instr::dma_copy, {8, 4}, whole(s, 2), {from(whole(x, 2))}, {}, Work::raw)});
  loop.body.push_back({4, map(Instr::load, {1, 4}, whole(a, 2), {from(row(s, 0))}, {}, Work::raw)});
  loop.body.push_back({5, map(Instr::load, {1, 4}, whole(b, 2), {from(row(x, 1))}, {}, Work::raw)});
  loop.body.push_back(
      {6, map(Instr::tensor_tensor, {1, 4}, whole(c, 2), {from(whole(a, 2)), from(whole(b, 2))}, {{Fn::add, {0, 1}}})});
  loop.body.push_back({7, map(Instr::store, {1, 4}, row(s, 1), {from(whole(c, 2))}, {}, Work::raw)});
  m.program.body.push_back({3, loop});
  m.program.body.push_back({8, map(Instr::dma_copy, {8, 4}, whole(out, 2), {from(whole(s, 2))}, {}, Work::raw)});
  return m.program;
}

TEST(Orders, ADependenceBetweenAffineTripsIsFoundAndNamed) {
  const std::vector<std::vector<float>> ones = {std::vector<float>(32, 1)};
  const auto found = orders_of(prefix_sum(false), ones);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].line, 3u);
  EXPECT_EQ(found[0].loop, "i");
  EXPECT_FALSE(found[0].is_rounding);
  EXPECT_EQ(found[0].text,
            "affine_range at line 3 (variable `i`) carries a dependence: its result depends on the order of the trips "
            "(output 0 at [2, 0]: 3 in order, 2 reversed); use nl.sequential_range, or accumulate with +=");
  EXPECT_THAT(diagnosis_of(prefix_sum(false), ones).causes, ElementsAre(found[0].text));
}

TEST(Orders, SequentialLoopsKeepTheirOrder) {
  EXPECT_THAT(orders_of(prefix_sum(true), {std::vector<float>(32, 1)}), IsEmpty());
}

TEST(Orders, IndependentTripsGiveTheSameBytesInEveryOrder) {
  std::vector<float> x(1024 * 16), y(1024 * 16);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k) * 0.37f, y[k] = static_cast<float>(k % 17);
  for (const std::uint64_t seed : {1ULL, 2ULL, 0xdeadbeefcafeULL})
    EXPECT_THAT(orders_of(add_program(8, 16), {x, y}, seed), IsEmpty());
}

/// out = x[i] in every trip: the last one wins, and here its number is near the others'.
TEST(Orders, ARaceBetweenNearNumbersIsNoRounding) {
  Made m;
  const auto x = m.param({4, 4}), out = m.output({1, 4});
  const std::uint32_t i = m.loop_atom(0);
  Loop loop;
  loop.trips = 4;
  const auto a = m.tile(BufferKind::sbuf, {1, 4}, Dtype::float32, {}, &loop.body);
  loop.body.push_back({4, map(Instr::load, {1, 4}, whole(a, 2),
                              {from(access(x, {at({1, 0}, aff(0, {{i, 1}})), at({0, 1})}))}, {}, Work::raw)});
  loop.body.push_back({5, map(Instr::store, {1, 4}, whole(out, 2), {from(whole(a, 2))}, {}, Work::raw)});
  m.program.body.push_back({3, loop});
  std::vector<float> values(16, 1.0f);
  for (std::size_t k = 12; k < 16; ++k) values[k] = 1.0001f;
  const auto found = orders_of(m.program, {values});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].is_rounding) << found[0].text;
}

/// out = sum over i of x[i] by += : the order changes roundings alone.
TEST(Orders, ASumInAnotherOrderIsCalledRounding) {
  Made m;
  const auto x = m.param({64, 4}), out = m.output({1, 4});
  const auto acc = m.tile(BufferKind::sbuf, {1, 4}, Dtype::float32, 0);
  const std::uint32_t i = m.loop_atom(0);
  Loop loop;
  loop.trips = 64;
  const auto a = m.tile(BufferKind::sbuf, {1, 4}, Dtype::float32, {}, &loop.body);
  loop.body.push_back({4, map(Instr::load, {1, 4}, whole(a, 2),
                              {from(access(x, {at({1, 0}, aff(0, {{i, 1}})), at({0, 1})}))}, {}, Work::raw)});
  Map sum = map(Instr::tensor_tensor, {1, 4}, whole(acc, 2), {from(whole(a, 2))});
  sum.accumulate = static_cast<std::uint8_t>(Fn::add);
  loop.body.push_back({5, sum});
  m.program.body.push_back({3, loop});
  m.program.body.push_back({6, map(Instr::store, {1, 4}, whole(out, 2), {from(whole(acc, 2))}, {}, Work::raw)});
  std::vector<float> values(256);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = 1.0f / static_cast<float>(3 * k + 1);
  const auto found = orders_of(m.program, {values});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].is_rounding);
  EXPECT_THAT(found[0].text, AllOf(HasSubstr("affine_range at line 3: output 0 changes by at most"),
                                   HasSubstr("as a sum in another order may")));
  EXPECT_THAT(diagnosis_of(m.program, {values}).causes, IsEmpty());
}

/// PSUM zeros inside the k loop: matmul by matmul overwrites the same output.
TEST(Overwrites, APsumTileMadeInsideTheContractionLoopIsNamed) {
  Made m;
  const auto a = m.param({256, 128}), b = m.param({256, 512}), out = m.output({128, 512});
  m.program.buffers[out].name = "out";
  const std::uint32_t k = m.loop_atom(0);
  Loop loop;
  loop.trips = 2;
  loop.name = "k";
  const auto at_ = m.tile(BufferKind::sbuf, {128, 128}, Dtype::float32, {}, &loop.body),
             bt = m.tile(BufferKind::sbuf, {128, 512}, Dtype::float32, {}, &loop.body);
  const auto psum = m.tile(BufferKind::psum, {128, 512}, Dtype::float32, 0, &loop.body),
             copy = m.tile(BufferKind::sbuf, {128, 512}, Dtype::float32, {}, &loop.body);
  m.program.buffers[psum].name = "acc";
  m.program.buffers[psum].line = 9;
  const auto part = [&](std::uint32_t id) { return access(id, {at({1, 0}, aff(0, {{k, 128}})), at({0, 1})}); };
  loop.body.push_back({7, map(Instr::load, {128, 128}, whole(at_, 2), {from(part(a))}, {}, Work::raw)});
  loop.body.push_back({8, map(Instr::load, {128, 512}, whole(bt, 2), {from(part(b))}, {}, Work::raw)});
  Matmul op;
  op.head.instr = Instr::matmul;
  op.head.shape = {128, 128, 512};
  op.dst = access(psum, {at({0, 1, 0}), at({0, 0, 1})});
  op.stationary = access(at_, {at({1, 0, 0}), at({0, 1, 0})});
  op.moving = access(bt, {at({1, 0, 0}), at({0, 0, 1})});
  op.accumulate = true;
  loop.body.push_back({10, op});
  loop.body.push_back({11, map(Instr::tensor_copy, {128, 512}, whole(copy, 2), {from(whole(psum, 2))}, {}, Work::raw)});
  loop.body.push_back({12, map(Instr::store, {128, 512}, whole(out, 2), {from(whole(copy, 2))}, {}, Work::raw)});
  m.program.body.push_back({6, loop});
  validate(m.program);
  EXPECT_THAT(overwritten_in_loops(m.program),
              ElementsAre("variable `out` (line 1) is overwritten at line 12 in every trip of the loop at line 6 "
                          "(variable `k`), only the last trip "
                          "stays; the PSUM tile `acc` (line 9) is made anew in each trip, so nothing accumulates: "
                          "create it before that loop"));
  EXPECT_THAT(overwritten_in_loops(add_program(4, 8)), IsEmpty());
  EXPECT_THAT(overwritten_in_loops(prefix_sum(true)), IsEmpty());
}

}  // namespace
}  // namespace nkigrid::nkisim
