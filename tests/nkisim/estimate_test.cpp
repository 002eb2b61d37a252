#include <gtest/gtest.h>

#include "runner/nkisim/estimate/estimate.hpp"
#include "runner/nkisim/program/validate.hpp"
#include "tests/nkisim/make.hpp"

namespace nkigrid::nkisim {
namespace {

using namespace make;

TEST(Estimate, AnElementwiseKernelIsItsTrafficAndItsShareOfVectorWork) {
  // 16 tiles of (128, 512): three transfers of 4 bytes an element; one tensor_tensor of 2 N + 60 cycles at 1.12 GHz a
  // tile.
  const double dma = 16.0 * 128 * 512 * 4 * 3 / 272e3, dve = 16 * (1024 + 60) / 1120.0;
  EXPECT_NEAR(estimate_us(add_program(16, 512)), std::max(dma, dve) + 0.3 * std::min(dma, dve) + 2, 1e-6);
}

TEST(Estimate, LongerRowsAreCheaperThanShortOnes) {
  EXPECT_GT(estimate_us(add_program(128, 16)), 2 * estimate_us(add_program(2, 1024)));
}

/// The matmul 4096 x 5120 x 12288 that AccelOpt measured at 35.2 ms on Trn1 (fp32, DMA bound), in its plain tiled form.
TEST(Estimate, APlainTiledMatmulIsWithinTheFitsRangeOfTheMeasuredOne) {
  Made m;
  const auto a = m.param({5120, 4096}), b = m.param({5120, 12288}), out = m.output({4096, 12288});
  const std::uint32_t i = m.loop_atom(0), j = m.loop_atom(1), k = m.loop_atom(2);
  Loop rows, columns, inner;
  rows.trips = 32;
  columns.id = 1;
  columns.trips = 24;
  inner.id = 2;
  inner.trips = 40;
  const auto at_ = m.tile(BufferKind::sbuf, {128, 128}, Dtype::float32, {}, &inner.body),
             bt = m.tile(BufferKind::sbuf, {128, 512}, Dtype::float32, {}, &inner.body);
  const auto psum = m.tile(BufferKind::psum, {128, 512}, Dtype::float32, 0, &columns.body),
             copy = m.tile(BufferKind::sbuf, {128, 512}, Dtype::float32, {}, &columns.body);
  const auto part = [&](std::uint32_t id, Affine row, Affine column) {
    return access(id, {at({1, 0}, std::move(row)), at({0, 1}, std::move(column))});
  };
  inner.body.push_back({1, map(Instr::load, {128, 128}, whole(at_, 2),
                               {from(part(a, aff(0, {{k, 128}}), aff(0, {{i, 128}})))}, {}, Work::raw)});
  inner.body.push_back({2, map(Instr::load, {128, 512}, whole(bt, 2),
                               {from(part(b, aff(0, {{k, 128}}), aff(0, {{j, 512}})))}, {}, Work::raw)});
  Matmul op;
  op.head.instr = Instr::matmul;
  op.head.shape = {128, 128, 512};
  op.dst = access(psum, {at({0, 1, 0}), at({0, 0, 1})});
  op.stationary = access(at_, {at({1, 0, 0}), at({0, 1, 0})});
  op.moving = access(bt, {at({1, 0, 0}), at({0, 0, 1})});
  op.accumulate = true;
  inner.body.push_back({3, op});
  columns.body.push_back({4, inner});
  columns.body.push_back(
      {5, map(Instr::tensor_copy, {128, 512}, whole(copy, 2), {from(whole(psum, 2))}, {}, Work::raw)});
  columns.body.push_back({6, map(Instr::store, {128, 512}, part(out, aff(0, {{i, 128}}), aff(0, {{j, 512}})),
                                 {from(whole(copy, 2))}, {}, Work::raw)});
  rows.body.push_back({7, columns});
  m.program.body.push_back({8, rows});
  validate(m.program);
  const double ratio = 35.2e3 / estimate_us(m.program);
  EXPECT_GT(ratio, 0.75);
  EXPECT_LT(ratio, 1.31);
}

TEST(Estimate, BlockTensorsThatDoNotFitAreMovedEachTimeTheirRegionRuns) {
  const auto with_scores = [](std::int64_t megabytes) {
    Program p = add_program(4, 512);
    Buffer scores;
    scores.shape = {megabytes * 4, 128, 512};  // blocks of 256 KiB
    scores.partition_dim = 1;
    p.buffers.push_back(scores);
    const auto id = static_cast<std::uint32_t>(p.buffers.size() - 1);
    Block& body = std::get<Loop>(p.body.back().what).body;
    body.insert(body.begin(), {1, Alloc{id, {}}});
    const Access first = access(id, {at({0, 0}), at({1, 0}), at({0, 1})});
    body.push_back({9, map(Instr::memset, {128, 512}, first, {value(0)})});
    Map copy = map(Instr::tensor_copy, {128, 512}, first, {from(first)}, {}, Work::raw);
    body.push_back({9, copy});
    return estimate_us(p);
  };
  EXPECT_EQ(with_scores(16), with_scores(1));
  // 4 trips, out and back: the transfers bind, so each microsecond of theirs is one of the whole.
  EXPECT_NEAR(with_scores(64) - with_scores(32), 4.0 * 2 * 32 * (1 << 20) / 272e3, 1e-6);
}

/// A sum over trips goes out and comes back in each of them, as gqa_full's measured spills do.
TEST(Estimate, WhatDoesNotFitIsMovedAtEachSweepOverIt) {
  const auto spilled = [](std::int64_t sweeps) {
    Made m;
    const std::uint32_t block = m.loop_atom(1);
    const auto sums = m.tile(BufferKind::sbuf, {128, 128, 512});  // 32 MiB
    m.program.buffers[sums].partition_dim = 1;
    Loop sweep, blocks;
    sweep.trips = sweeps;
    blocks.id = 1;
    blocks.trips = 128;
    const Access one = access(sums, {at({0, 0}, aff(0, {{block, 1}})), at({1, 0}), at({0, 1})});
    Map sum = map(Instr::tensor_scalar, {128, 512}, one, {value(1)});
    sum.accumulate = static_cast<std::uint8_t>(Fn::add);
    blocks.body.push_back({1, sum});
    sweep.body.push_back({2, blocks});
    m.program.body.push_back({3, sweep});
    return profile_of(m.program).spilled_bytes;
  };
  EXPECT_EQ(spilled(2), 2 * 2.0 * (32 - 22) * (1 << 20));
  EXPECT_EQ(spilled(3), 3 * 2.0 * (32 - 22) * (1 << 20));
}

/// A load that a loop does not move, `outer` trips of `inner` trips that store what it loaded.
Program invariant_load(std::int64_t rows, bool moves) {
  Made m;
  const auto x = m.param({rows * 8, 8192}), out = m.output({128, 4096});
  const std::uint32_t i = m.loop_atom(0);
  Loop loop;
  loop.trips = 8;
  const auto tile = m.tile(BufferKind::sbuf, {128, 8192}, Dtype::float32, {}, &loop.body);
  const auto part = access(x, {at({1, 0}, aff(0, {{i, moves ? 128 : 0}})), at({0, 1})});
  loop.body.push_back({1, map(Instr::load, {128, 8192}, whole(tile, 2), {from(part)}, {}, Work::raw)});
  loop.body.push_back({2, map(Instr::store, {128, 4096}, whole(out, 2), {from(whole(tile, 2))}, {}, Work::raw)});
  if (!moves) std::get<Map>(loop.body[1].what).sources[0].access.dims[0].base.terms.clear();
  m.program.body.push_back({3, loop});
  return m.program;
}

/// mamba's u, 7 MiB, is loaded in each trip: beside its loop's tiles there are 7 MiB of sums outside of it.
TEST(Estimate, ALoadIsTakenOutOfALoopOnlyWhereItFitsBesideWhatStandsAroundIt) {
  const auto loaded = [](std::int64_t columns) {
    Program p = invariant_load(128, false);  // 4 MiB
    Buffer sums;
    sums.shape = {128, columns};
    p.buffers.push_back(sums);
    const auto id = static_cast<std::uint32_t>(p.buffers.size() - 1);
    p.body.insert(p.body.begin(), {1, Alloc{id, {}}});
    const Access all = access(id, {at({1, 0}), at({0, 1})});
    p.body.insert(p.body.begin() + 1, {1, map(Instr::memset, {128, columns}, all, {value(0)})});
    p.body.push_back({9, map(Instr::tensor_copy, {128, columns}, all, {from(all)}, {}, Work::raw)});
    return profile_of(p).traffic.hbm_read;
  };
  const double once = 128.0 * 8192 * 4;
  EXPECT_EQ(loaded(24576), once);      // 12 MiB
  EXPECT_EQ(loaded(40960), 8 * once);  // 20 MiB
}

/// bmm_softmax's operands are loaded once a batch, though its scores of 64 MiB do not fit.
TEST(Estimate, WhatLeavesIsNoObstacleToALoad) {
  Program p = invariant_load(128, false);
  Buffer scores;
  scores.shape = {64, 128, 2048};  // 64 MiB
  scores.partition_dim = 1;
  p.buffers.push_back(scores);
  const auto id = static_cast<std::uint32_t>(p.buffers.size() - 1);
  p.body.insert(p.body.begin(), {1, Alloc{id, {}}});
  const Access all = access(id, {at({1, 0, 0}), at({0, 1, 0}), at({0, 0, 1})});
  p.body.insert(p.body.begin() + 1, {1, map(Instr::memset, {64, 128, 2048}, all, {value(0)})});
  p.body.push_back({9, map(Instr::tensor_copy, {64, 128, 2048}, all, {from(all)}, {}, Work::raw)});
  const Profile profile = profile_of(p);
  EXPECT_GT(profile.spilled_bytes, 2 * 42.0 * (1 << 20));
  EXPECT_EQ(profile.traffic.hbm_read - profile.spilled_bytes / 2, 128.0 * 8192 * 4);
}

TEST(Estimate, ALoadThatALoopDoesNotMoveIsMadeOnce) {
  const double once = 128.0 * 8192 * 4;
  EXPECT_EQ(profile_of(invariant_load(128, false)).traffic.hbm_read, once);
  EXPECT_EQ(profile_of(invariant_load(128, true)).traffic.hbm_read, 8 * once);
}

/// gqa_full's transposed queries go out once and come back for each half of the keys.
TEST(Estimate, WhatIsOnlyReadAgainGoesOutOnce) {
  Made m;
  const std::uint32_t made = m.loop_atom(0), read = m.loop_atom(2);
  const auto block = m.tile(BufferKind::sbuf, {128, 128, 512});  // 32 MiB
  m.program.buffers[block].partition_dim = 1;
  const auto out = m.output({128, 512});
  const auto one = [&](std::uint32_t trip) {
    return access(block, {at({0, 0}, aff(0, {{trip, 1}})), at({1, 0}), at({0, 1})});
  };
  Loop writer, sweeps, reader;
  writer.trips = reader.trips = 128;
  sweeps.id = 1;
  sweeps.trips = 3;
  reader.id = 2;
  writer.body.push_back({1, map(Instr::memset, {128, 512}, one(made), {value(0)})});
  reader.body.push_back({2, map(Instr::store, {128, 512}, whole(out, 2), {from(one(read))}, {}, Work::raw)});
  sweeps.body.push_back({3, reader});
  m.program.body.push_back({4, writer});
  m.program.body.push_back({5, sweeps});
  const Traffic moved = profile_of(m.program).traffic;
  const double gone = (32.0 - 22) * (1 << 20), stored = 3 * 128 * 128 * 512 * 4.0;
  EXPECT_EQ(moved.hbm_written, stored + gone);
  EXPECT_EQ(moved.hbm_read, 3 * gone);
}

/// lora's sums of 16 MiB leave as a whole where 2 MiB are too much.
TEST(Estimate, ATensorThatWouldFitAloneGoesAsAWhole) {
  Made m;
  const std::uint32_t block = m.loop_atom(0);
  const auto sums = m.tile(BufferKind::sbuf, {64, 128, 512});  // 16 MiB
  m.program.buffers[sums].partition_dim = 1;
  Loop blocks, sweep;
  blocks.trips = 64;
  sweep.id = 1;
  sweep.trips = 4;
  for (const int name : {0, 1}) m.tile(BufferKind::sbuf, {128, 8192 - 64 * name}, Dtype::float32, 0, &sweep.body);
  Map sum = map(Instr::tensor_scalar, {128, 512},
                access(sums, {at({0, 0}, aff(0, {{block, 1}})), at({1, 0}), at({0, 1})}), {value(1)});
  sum.accumulate = static_cast<std::uint8_t>(Fn::add);
  blocks.body.push_back({1, sum});
  sweep.body.push_back({2, map(Instr::tensor_copy, {128, 8128}, access(sums + 2, {at({1, 0}), at({0, 1})}),
                               {from(access(sums + 1, {at({1, 0}), at({0, 1})}))}, {}, Work::raw)});
  sweep.body.push_back({3, blocks});
  sweep.body.push_back({2, map(Instr::tensor_copy, {128, 8128}, access(sums + 2, {at({1, 0}), at({0, 1})}),
                               {from(access(sums + 1, {at({1, 0}), at({0, 1})}))}, {}, Work::raw)});
  m.program.body.push_back({4, sweep});
  EXPECT_EQ(profile_of(m.program).spilled_bytes, 4 * 2.0 * 16 * (1 << 20));
}

TEST(Estimate, TheProfileCountsBytesByMemory) {
  const Profile profile = profile_of(add_program(16, 512));
  const double tensor = 16.0 * 128 * 512 * 4;
  EXPECT_EQ(profile.us, estimate_us(add_program(16, 512)));
  EXPECT_EQ(profile.traffic.hbm_read, 2 * tensor);
  EXPECT_EQ(profile.traffic.hbm_written, tensor);
  EXPECT_EQ(profile.traffic.sbuf_written, 2 * tensor);  // two loads; a tensor_tensor has no bytes
  EXPECT_EQ(profile.traffic.sbuf_read, tensor);         // the store
  EXPECT_EQ(profile.traffic.psum_read, 0);
  EXPECT_NEAR(profile.roofline_us, 3 * tensor / 272e3, 1e-9);
}

TEST(Estimate, ABranchThatIsTakenHalfTheTimeCostsHalf) {
  Program p = add_program(4, 512);
  const double all = estimate_us(p) - 2;
  Loop& loop = std::get<Loop>(p.body.back().what);
  If branch;
  branch.conditions.push_back(not_negative(at({}, aff(-2, {{0, 1}}))));
  for (std::size_t k = 3; k < loop.body.size(); ++k) branch.then_body.push_back(std::move(loop.body[k]));
  loop.body.resize(3);
  loop.body.push_back({1, std::move(branch)});
  EXPECT_NEAR(estimate_us(p) - 2, all / 2, 1e-9);
}

/// What a part of an instruction costs: the estimate with parts over n values a partition behind an instruction over
/// 512.
double with_parts(int parts, std::int64_t values, Instr first = Instr::activation) {
  Made m;
  const auto x = m.param({128, 512}), out = m.output({128, 512});
  const auto tile = m.tile(BufferKind::sbuf, {128, 512}), wide = m.tile(BufferKind::sbuf, {128, 4096});
  m.program.body.push_back({1, map(Instr::load, {128, 512}, whole(tile, 2), {from(whole(x, 2))})});
  if (first != Instr::load)
    m.program.body.push_back({2, map(first, {128, 512}, whole(tile, 2), {from(whole(tile, 2))}, {{Fn::exp, {0}}})});
  for (int k = 0; k < parts; ++k) {
    m.program.body.push_back(
        {3, map(Instr::part_of_former, {128, values}, whole(wide, 2), {from(whole(wide, 2))}, {{Fn::exp, {0}}})});
  }
  m.program.body.push_back({4, map(Instr::store, {128, 512}, whole(out, 2), {from(whole(tile, 2))})});
  validate(m.program);
  return estimate_us(m.program);
}

TEST(Estimate, PartsAreFreeAsFarAsTheInstructionBeforeThemPays) {
  const double alone = with_parts(0, 512);
  EXPECT_EQ(with_parts(2, 512), alone);
  EXPECT_EQ(with_parts(1, 1), alone);
  EXPECT_GT(with_parts(3, 512), alone);
  EXPECT_GT(with_parts(1, 513), alone);
  EXPECT_GT(with_parts(1, 512, Instr::load), with_parts(0, 512, Instr::load));
}

/// Twenty operations between a load and a store: what programs that no tracer made would have for less.
class WorkOfTwenty : public ::testing::Test {
 protected:
  WorkOfTwenty() {
    x_ = made_.param({128, 512}), out_ = made_.output({128, 512});
    for (auto* tile : {&a_, &b_, &c_}) *tile = made_.tile(BufferKind::sbuf, {128, 512});
    column_ = made_.tile(BufferKind::psum, {128, 1});
  }
  double of(const Node& node) {
    Made made = made_;
    Block& body = made.program.body;
    body.push_back({1, map(Instr::load, {128, 512}, whole(a_, 2), {from(whole(x_, 2))})});
    for (int k = 0; k < 20; ++k) body.push_back(node);
    body.push_back({9, map(Instr::store, {128, 512}, whole(out_, 2), {from(whole(a_, 2))})});
    validate(made.program);
    return estimate_us(made.program);
  }
  double of(Map op) { return of(Node{2, std::move(op)}); }
  Map sum(Instr instr) {
    return map(instr, {128, 512}, whole(c_, 2), {from(whole(a_, 2)), from(whole(b_, 2))}, {{Fn::add, {0, 1}}});
  }
  Made made_;
  std::uint32_t x_ = 0, out_ = 0, a_ = 0, b_ = 0, c_ = 0, column_ = 0;
};

TEST_F(WorkOfTwenty, OnTwoTilesCostsAsMuchUnderEachName) {
  const double sums = of(sum(Instr::tensor_tensor));
  EXPECT_GE(of(sum(Instr::activation)), sums * 0.8);  // the scalar engine's clock is another
  Map scalar = sum(Instr::tensor_scalar);
  scalar.head.engine = Engine::vector;
  EXPECT_EQ(of(scalar), sums);
  Map copy = map(Instr::tensor_copy, {128, 512}, whole(c_, 2), {from(whole(a_, 2))});
  const double copies = of(copy);
  copy.accumulate = static_cast<std::uint8_t>(Fn::add);
  EXPECT_LT(copies, sums);
  EXPECT_EQ(of(copy), sums);
}

TEST_F(WorkOfTwenty, IsNoCheaperForAColumnOfPsum) {
  const Map tiles = sum(Instr::scalar_tensor_tensor);
  Map beside = sum(Instr::tensor_tensor);
  beside.sources[1] = from(access(column_, {at({1, 0}), at({0, 0})}));
  Map same = beside;
  same.sources[1] = value(1);
  EXPECT_EQ(of(beside), of(same));
  EXPECT_GT(of(tiles), 0);
}

TEST_F(WorkOfTwenty, FromTileToTileByDmaIsATransfer) {
  Map copy = map(Instr::dma_copy, {128, 512}, whole(c_, 2), {from(whole(a_, 2))});
  Map load = map(Instr::load, {128, 512}, whole(c_, 2), {from(whole(x_, 2))});
  EXPECT_GE(of(copy), of(load) * 0.99);
}

TEST_F(WorkOfTwenty, CountsPartitionsOnceHoweverManyAxesMoveAlongThem) {
  const double plain = of(map(Instr::activation, {128, 512}, whole(c_, 2), {from(whole(a_, 2))}, {{Fn::exp, {0}}}));
  // p = i + j - 63 where that is a partition; 10 j + k along the free axis.
  const auto spread = [](std::uint32_t tile) { return access(tile, {at({1, 1, 0}, aff(-49)), at({0, 10, 1})}); };
  Map many = map(Instr::activation, {177, 50, 10}, spread(c_), {from(spread(a_))}, {{Fn::exp, {0}}});
  many.head.mask = {not_negative(at({1, 1, 0}, aff(-49))), not_negative(at({-1, -1, 0}, aff(176)))};
  EXPECT_GE(of(many), plain);
}

TEST_F(WorkOfTwenty, OfABranchThatNobodyCanTellIsCountedOnBothSides) {
  const Map op = sum(Instr::tensor_tensor);
  made_.program.atoms.push_back({Atom::Kind::mod, 0, aff(-(std::int64_t{1} << 41)), std::int64_t{1} << 40});  // 0
  const auto mod = static_cast<std::uint32_t>(made_.program.atoms.size() - 1);
  If always;
  always.conditions.push_back({Condition::Kind::zero, at({}, aff(0, {{mod, 1}}))});
  always.then_body.push_back({3, op});
  EXPECT_EQ(of(Node{2, always}), of(op));
  If never = always;
  std::swap(never.then_body, never.else_body);
  never.conditions[0].kind = Condition::Kind::not_zero;
  EXPECT_EQ(of(Node{2, never}), of(op));
}

}  // namespace
}  // namespace nkigrid::nkisim
