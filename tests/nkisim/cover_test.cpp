#include "runner/nkisim/engine/cover.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "tests/nkisim/make.hpp"

namespace nkigrid::nkisim {
namespace {

using namespace make;

constexpr std::int64_t kRows = 10, kTile = 4;  // the third tile's last two rows are beyond the edge

/// for i in 3: t = load(x[4 i + p], mask = 4 i + p < 10); out[4 i + p] = t, with or without the mask
Program masked_rows(bool masked_store) {
  Made m;
  const auto x = m.param({kRows, 8}), out = m.output({masked_store ? kRows : 12, 8});
  const std::uint32_t i = m.loop_atom(0);
  Loop loop;
  loop.trips = 3;
  const auto tile = m.tile(BufferKind::sbuf, {kTile, 8}, Dtype::float32, {}, &loop.body);
  const auto rows = [&](std::uint32_t id) { return access(id, {at({1, 0}, aff(0, {{i, kTile}})), at({0, 1})}); };
  const Condition inside = not_negative(at({-1, 0}, aff(kRows - 1, {{i, -kTile}})));
  Map load = map(Instr::load, {kTile, 8}, whole(tile, 2), {from(rows(x))}, {}, Work::raw);
  load.head.mask = {inside};
  Map store = map(Instr::store, {kTile, 8}, rows(out), {from(whole(tile, 2))}, {}, Work::raw);
  if (masked_store) store.head.mask = {inside};
  loop.body.push_back({2, load});
  loop.body.push_back({3, store});
  m.program.entry = "rows";
  m.program.tracer = "test";
  m.program.body.push_back({1, std::move(loop)});
  return m.program;
}

const Block& trip(const Program& program) { return std::get<Loop>(program.body[0].what).body; }

TEST(Cover, AMaskedWriteCoversWhereItsMaskHoldsAtItsLeastPoint) {
  const Program program = masked_rows(true);
  const auto least = unseen_while(program, 2, trip(program), 0);
  ASSERT_TRUE(least.has_value());
  // 9 - 4 i - 3 at the last row: not negative in the first two trips
  ASSERT_EQ(least->size(), 1u);
  EXPECT_EQ(least->front(), aff(kRows - 1 - (kTile - 1), {{0, -kTile}}));
}

TEST(Cover, AMaskThatHangsOnADeeperLoopIsNoCover) {
  Program program = masked_rows(true);
  Loop& outer = std::get<Loop>(program.body[0].what);
  Loop inner;
  inner.id = 1;
  inner.trips = 1;
  inner.body.assign(outer.body.begin() + 1, outer.body.end());
  outer.body.resize(1);
  outer.body.push_back({2, std::move(inner)});
  EXPECT_FALSE(unseen_while(program, 2, outer.body, 0).has_value());
}

TEST(Cover, AnEqualityIsNoCover) {
  Program program = masked_rows(true);
  std::get<Map>(std::get<Loop>(program.body[0].what).body[1].what).head.mask[0].kind = Condition::Kind::zero;
  EXPECT_FALSE(unseen_while(program, 2, trip(program), 0).has_value());
}

TEST(Cover, WhatTheMaskLeavesIsPoisonAndNotTheTripBefore) {
  std::vector<float> x(kRows * 8);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k + 1);
  const Poison poison{0x7fc0dead, 0xa5};
  const auto out = run(masked_rows(false), std::vector<std::vector<float>>{x}, nullptr, poison);
  for (std::size_t k = 0; k < x.size(); ++k) EXPECT_EQ(out[k], x[k]);
  for (std::size_t k = x.size(); k < out.size(); ++k) EXPECT_EQ(std::bit_cast<std::uint32_t>(out[k]), poison.nan_bits);
}

}  // namespace
}  // namespace nkigrid::nkisim
