#include <gtest/gtest.h>

#include "runner/nkisim/estimate/estimate.hpp"
#include "runner/nkisim/estimate/restructure.hpp"
#include "tests/nkisim/make.hpp"

namespace nkigrid::nkisim {
namespace {

using namespace make;

/// A block tensor of 48 MiB that a loop of 96 trips makes and a second one stores.
struct TwoLoops {
  Made m;
  std::uint32_t gate, out, first, second;
  Loop one, other;
  TwoLoops()
      : gate(m.tile(BufferKind::sbuf, {96, 128, 1024})),
        out(m.output({96, 128, 1024})),
        first(m.loop_atom(0)),
        second(m.loop_atom(1)) {
    m.program.buffers[gate].partition_dim = 1;
    other.id = 1;
    one.trips = other.trips = 96;
    one.body.push_back({1, map(Instr::memset, {128, 1024}, block(gate, aff(0, {{first, 1}})), {value(0)})});
  }
  static Access block(std::uint32_t buffer, Affine which) {
    return access(buffer, {at({0, 0}, std::move(which)), at({1, 0}), at({0, 1})});
  }
  void store(const Affine& which) {
    other.body.push_back({2, map(Instr::store, {128, 1024}, block(out, aff(0, {{second, 1}})),
                                 {from(block(gate, which))}, {}, Work::raw)});
  }
  Program program(std::vector<Node> between = {}) {
    m.program.body.push_back({3, one});
    for (Node& node : between) m.program.body.push_back(std::move(node));
    m.program.body.push_back({4, other});
    return m.program;
  }
};

std::size_t loops_of(const Program& program) {
  std::size_t loops = 0;
  for (const Node& node : restructured(program).body) loops += std::holds_alternative<Loop>(node.what) ? 1 : 0;
  return loops;
}

/// As swiglu's gate, of 48 MiB, which its profile never spills.
TEST(Restructure, LoopsThatMeetTripByTripAreOne) {
  TwoLoops t;
  t.store(aff(0, {{t.second, 1}}));
  const Program program = t.program();
  EXPECT_EQ(loops_of(program), 1u);
  EXPECT_EQ(profile_of(program).spilled_bytes, 0);
}

TEST(Restructure, ALoopThatReadsWhatOtherTripsMadeWaitsForAllOfThem) {
  TwoLoops backwards, same;
  backwards.store(aff(95, {{backwards.second, -1}}));
  same.store(aff(7));
  EXPECT_EQ(loops_of(backwards.program()), 2u);
  EXPECT_EQ(loops_of(same.program()), 2u);
}

TEST(Restructure, WhatStandsBetweenStandsBeforeUnlessItNeedsTheFirst) {
  const auto with = [](bool reads) {
    TwoLoops t;
    const auto tile = t.m.tile(BufferKind::sbuf, {128, 1024});
    Node between{5, map(Instr::memset, {128, 1024}, whole(tile, 2), {value(0)})};
    if (reads) {
      between.what =
          map(Instr::tensor_copy, {128, 1024}, whole(tile, 2), {from(TwoLoops::block(t.gate, aff(3)))}, {}, Work::raw);
    }
    t.store(aff(0, {{t.second, 1}}));
    return loops_of(t.program({between}));
  };
  EXPECT_EQ(with(false), 1u);
  EXPECT_EQ(with(true), 2u);
}

TEST(Restructure, LoopsThatShareNothingStayTwo) {
  TwoLoops t;
  const auto tile = t.m.tile(BufferKind::sbuf, {128, 1024});
  t.other.body.push_back({2, map(Instr::memset, {128, 1024}, whole(tile, 2), {value(0)})});
  EXPECT_EQ(loops_of(t.program()), 2u);
}

/// Two loops that load the same blocks of x; with `work` both take their exponentials.
Program twice(bool work, bool same_place = true) {
  Made m;
  const auto x = m.param({8, 128, 512}), out = m.output({128, 512});
  for (std::uint32_t id = 0; id < 2; ++id) {
    const std::uint32_t trip = m.loop_atom(id);
    const auto loaded = m.tile(BufferKind::sbuf, {8, 128, 512}), made = m.tile(BufferKind::sbuf, {8, 128, 512});
    m.program.buffers[loaded].partition_dim = m.program.buffers[made].partition_dim = 1;
    const auto block = [&](std::uint32_t buffer, Affine which) {
      return access(buffer, {at({0, 0}, std::move(which)), at({1, 0}), at({0, 1})});
    };
    const Affine here = aff(0, {{trip, 1}}), there = same_place || id == 0 ? here : aff(7, {{trip, -1}});
    Loop loop;
    loop.id = id;
    loop.trips = 8;
    loop.body.push_back({1, map(Instr::load, {128, 512}, block(loaded, here), {from(block(x, there))}, {}, Work::raw)});
    if (work) {
      loop.body.push_back(
          {2, map(Instr::activation, {128, 512}, block(made, here), {from(block(loaded, here))}, {{Fn::exp, {0}}})});
    }
    m.program.body.push_back({3, loop});
    const auto last = block(work ? made : loaded, aff(7));
    m.program.body.push_back({4, map(Instr::store, {128, 512}, whole(out, 2), {from(last)}, {}, Work::raw)});
  }
  return m.program;
}

/// As the transposes of swiglu's x, for the gate and for the rest, of which its profile counts one set.
TEST(Restructure, WhatIsMadeTwiceIsMadeOnce) {
  const double x = 8.0 * 128 * 512 * 4;
  EXPECT_EQ(profile_of(twice(true)).traffic.hbm_read, x);
  EXPECT_EQ(profile_of(twice(true, false)).traffic.hbm_read, 2 * x);
}

/// As rmsnorm_matmul's x.
TEST(Restructure, WhatIsOnlyLoadedIsLoadedAsOftenAsTheKernelSays) {
  EXPECT_EQ(profile_of(twice(false)).traffic.hbm_read, 2 * 8.0 * 128 * 512 * 4);
}

}  // namespace
}  // namespace nkigrid::nkisim
