#include "runner/nkisim/engine/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "runner/nkisim/program/validate.hpp"
#include "tests/nkisim/sample.hpp"

namespace nkigrid::nkisim {
namespace {

using namespace make;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using Floats = std::vector<float>;

Floats counting(std::size_t n, float start = 0) {
  Floats result(n);
  std::iota(result.begin(), result.end(), start);
  return result;
}

/// out = expression over a (rows, columns) tile that was loaded from the only parameter.
struct Unit {
  Made m;
  std::uint32_t x, in, result, out;
  std::vector<std::int64_t> shape;
  Unit(std::int64_t rows, std::int64_t columns, Dtype dtype = Dtype::float32) : shape{rows, columns} {
    x = m.param(shape);
    out = m.output(shape, dtype);
    in = m.tile(BufferKind::sbuf, shape);
    result = m.tile(BufferKind::sbuf, shape, dtype);
    m.program.body.push_back({2, map(Instr::load, shape, whole(in, 2), {from(whole(x, 2))}, {}, Work::raw)});
  }
  void add(auto op) { m.program.body.push_back({static_cast<std::uint32_t>(m.program.body.size()), std::move(op)}); }
  void store() { add(map(Instr::store, shape, whole(out, 2), {from(whole(result, 2))}, {}, Work::raw)); }
};

TEST(Engine, AddsByTilesInALoop) {
  const Floats x = counting(384 * 40), y = counting(384 * 40, 0.5f);
  const Floats out = run(add_program(3, 40), {x, y});
  for (std::size_t k = 0; k < out.size(); ++k) ASSERT_EQ(out[k], 2 * static_cast<float>(k) + 0.5f) << k;
}

TEST(Engine, LongRowsAreCutIntoChunks) {
  Unit u(2, 1500);
  u.add(map(Instr::tensor_scalar, u.shape, whole(u.result, 2), {from(whole(u.in, 2)), value(3)},
            {{Fn::multiply, {0, 1}}, {Fn::add, {2, 0}}}));
  u.store();
  const Floats out = run(u.m.program, {counting(3000)});
  for (std::size_t k = 0; k < out.size(); ++k) ASSERT_EQ(out[k], 4 * static_cast<float>(k)) << k;
}

/// Rows longer than any chunk: of values and numbers, of numbers alone, beside a source that no step uses, by two
/// steps.
TEST(Engine, LongRowsInMemoryAreRight) {
  constexpr std::int64_t kLong = 40'003;
  Floats x(kLong), y(kLong);
  for (std::size_t k = 0; k < kLong; ++k) x[k] = static_cast<float>(k % 977), y[k] = static_cast<float>(k % 991) / 4;
  const auto sum = [&](const std::vector<Source>& more, const std::vector<Step>& steps) {
    Made m;
    const auto a = m.param({1, kLong}), b = m.param({1, kLong}), out = m.output({1, kLong});
    const auto ta = m.tile(BufferKind::sbuf, {1, kLong}), tb = m.tile(BufferKind::sbuf, {1, kLong}),
               tc = m.tile(BufferKind::sbuf, {1, kLong});
    std::vector<Source> sources = {from(whole(ta, 2)), from(whole(tb, 2))};
    sources.insert(sources.end(), more.begin(), more.end());
    const auto copy = [&](Instr instr, auto to, auto source) {
      m.program.body.push_back({1, map(instr, {1, kLong}, whole(to, 2), {from(whole(source, 2))}, {}, Work::raw)});
    };
    copy(Instr::load, ta, a);
    copy(Instr::load, tb, b);
    m.program.body.push_back({1, map(Instr::tensor_tensor, {1, kLong}, whole(tc, 2), sources, steps)});
    copy(Instr::store, out, tc);
    return run(m.program, {x, y});
  };
  const Floats both = sum({}, {{Fn::add, {0, 1}}}), scaled = sum({value(3)}, {{Fn::multiply, {1, 2}}}),
               number = sum({value(3), value(4)}, {{Fn::subtract, {2, 3}}}),
               unused = sum({iota(at({0, 1})), value(3)}, {{Fn::multiply, {1, 3}}}),
               chain = sum({}, {{Fn::add, {0, 1}}, {Fn::multiply, {2, 1}}});
  for (std::size_t k = 0; k < kLong; ++k) {
    ASSERT_EQ(both[k], x[k] + y[k]);
    ASSERT_EQ(scaled[k], 3 * y[k]);
    ASSERT_EQ(number[k], -1);
    ASSERT_EQ(unused[k], scaled[k]);
    ASSERT_EQ(chain[k], (x[k] + y[k]) * y[k]);
  }
}

TEST(Engine, MaskedOffPointsKeepPoisonAndAreReportedWithTheFirstIndex) {
  Made m;
  const auto x = m.param({4, 6}), out = m.output({4, 6});
  Map copy = map(Instr::dma_copy, {4, 6}, whole(out, 2), {from(whole(x, 2))}, {}, Work::raw);
  copy.head.mask.push_back(not_negative(at({-1, 0}, aff(2))));                 // rows 0..2
  copy.head.mask.push_back(not_negative(at({-1, -1}, aff(6))));                // i + j <= 6
  copy.head.mask.push_back({Condition::Kind::not_zero, at({0, 1}, aff(-3))});  // not column 3
  m.program.body.push_back({3, copy});
  RunReport report;
  const Floats out_values = run(m.program, {counting(24)}, &report);
  std::uint64_t missing = 0;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 6; ++j) {
      const bool kept = i <= 2 && i + j <= 6 && j != 3;
      const float got = out_values[static_cast<std::size_t>(i * 6 + j)];
      missing += kept ? 0 : 1;
      if (kept)
        EXPECT_EQ(got, static_cast<float>(i * 6 + j));
      else
        EXPECT_TRUE(std::isnan(got)) << i << " " << j;
    }
  }
  EXPECT_EQ(report.code, Code::none);
  EXPECT_THAT(report.unwritten, ElementsAre(missing));
  EXPECT_THAT(report.hints, ElementsAre("output 0: " + std::to_string(missing) +
                                        " of 24 elements were never written, first at [0, 3]"));
}

TEST(Engine, PoisonIsTheCallersPattern) {
  Unit u(1, 2);
  u.store();
  const auto bits = [&](Poison poison) {
    const Floats out = run(u.m.program, {{1, 2}}, nullptr, poison);
    return std::bit_cast<std::uint32_t>(out[1]);
  };
  EXPECT_EQ(bits({}), 0x7fc0deadU);
  EXPECT_EQ(bits({0x7fe01234, 0x5a}), 0x7fe01234U);
}

TEST(Engine, FoldsInSixteenLanesAlongTheRow) {
  Made m;
  const auto x = m.param({2, 40}), out = m.output({2, 1});
  const auto in = m.tile(BufferKind::sbuf, {2, 40}), sum = m.tile(BufferKind::sbuf, {2, 1});
  m.program.body.push_back({1, map(Instr::load, {2, 40}, whole(in, 2), {from(whole(x, 2))}, {}, Work::raw)});
  Fold fold;
  fold.head.instr = Instr::tensor_reduce;
  fold.head.shape = {2, 40};
  fold.dst = access(sum, {at({1, 0}), at({0, 0})});
  fold.sources = {from(whole(in, 2))};
  m.program.body.push_back({2, fold});
  m.program.body.push_back({3, map(Instr::store, {2, 1}, whole(out, 2), {from(whole(sum, 2))}, {}, Work::raw)});
  Floats data(80);
  for (std::size_t k = 0; k < 80; ++k) data[k] = 1.0f / static_cast<float>(k + 3);
  Floats expected;
  for (std::size_t row = 0; row < 2; ++row) {
    float lanes[16] = {};
    for (std::size_t j = 0; j < 40; ++j) lanes[j % 16] += data[row * 40 + j];
    for (int half = 8; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
    }
    expected.push_back(lanes[0]);
  }
  EXPECT_EQ(run(m.program, {data}), expected);
}

/// Folds `shape` (a 3-D parameter in HBM copied to SBUF) over the axes that `dst` does not name.
Floats fold_3d(Fn fn, std::vector<bool> folded, const std::vector<std::int64_t>& shape, const Floats& data,
               std::vector<Condition> mask = {}, bool negate = false) {
  Made m;
  const auto x = m.param(shape);
  std::vector<std::int64_t> kept;
  std::vector<Index> tile_dims, out_dims;
  for (std::size_t k = 0; k < 3; ++k) {
    Index index = at({0, 0, 0});
    if (!folded[k]) index.slots[k] = 1;
    kept.push_back(folded[k] ? 1 : shape[k]);
    tile_dims.push_back(index);
  }
  const auto out = m.output(kept), in = m.tile(BufferKind::sbuf, shape), tile = m.tile(BufferKind::sbuf, kept);
  m.program.body.push_back({1, map(Instr::load, shape, whole(in, 3), {from(whole(x, 3))}, {}, Work::raw)});
  Fold fold;
  fold.head.instr = folded[0] ? Instr::partition_reduce : Instr::tensor_reduce;
  fold.head.shape = shape;
  fold.head.mask = std::move(mask);
  fold.dst = access(tile, tile_dims);
  fold.function = fn;
  fold.negate = negate;
  fold.sources = {from(whole(in, 3))};
  m.program.body.push_back({2, fold});
  m.program.body.push_back({3, map(Instr::store, kept, whole(out, 3), {from(whole(tile, 3))}, {}, Work::raw)});
  return run(m.program, {data});
}

TEST(Engine, FoldsOverAnyAxesWithAnyFunction) {
  const std::vector<std::int64_t> shape{5, 20, 33};
  Floats data(5 * 20 * 33);
  for (std::size_t k = 0; k < data.size(); ++k) data[k] = static_cast<float>((k * 7919) % 101) - 50;
  for (int axes = 1; axes < 8; ++axes) {
    const std::vector<bool> folded{(axes & 1) != 0, (axes & 2) != 0, (axes & 4) != 0};
    const Floats sums = fold_3d(Fn::add, folded, shape, data),
                 tops = fold_3d(Fn::maximum, folded, shape, data, {}, true);
    Floats want_sum(sums.size(), 0), want_top(sums.size(), -1e9f);
    const std::size_t k1 = folded[1] ? 1 : 20, k2 = folded[2] ? 1 : 33;
    for (std::size_t i = 0; i < 5; ++i) {
      for (std::size_t j = 0; j < 20; ++j) {
        for (std::size_t k = 0; k < 33; ++k) {
          const std::size_t to = ((folded[0] ? 0 : i) * k1 + (folded[1] ? 0 : j)) * k2 + (folded[2] ? 0 : k);
          const float v = data[(i * 20 + j) * 33 + k];
          want_sum[to] += v;  // integers: exact in any order
          want_top[to] = std::max(want_top[to], v);
        }
      }
    }
    for (float& v : want_top) v = -v;
    EXPECT_EQ(sums, want_sum) << axes;
    EXPECT_EQ(tops, want_top) << axes;
  }
}

TEST(Engine, MaskedFoldsLeavePointsOutAndEmptyOnesUnwritten) {
  const std::vector<std::int64_t> shape{2, 3, 20};
  const Floats data = counting(120);
  // Points with k < 4 * j only: j = 0 has none.
  const Floats rows = fold_3d(Fn::add, {false, false, true}, shape, data, {not_negative(at({0, 4, -1}, aff(-1)))});
  EXPECT_TRUE(std::isnan(rows[0]));
  EXPECT_EQ(rows[1], 20.0f + 21 + 22 + 23);
  const Floats columns = fold_3d(Fn::add, {false, true, false}, shape, data, {not_negative(at({0, 4, -1}, aff(-1)))});
  EXPECT_EQ(columns[0], 20.0f + 40);
  EXPECT_EQ(columns[5], 45.0f);
  EXPECT_TRUE(std::isnan(columns[8]));
}

TEST(Engine, ShiftedInPlaceOperationsReadEverythingFirst) {
  Unit u(2, 1300);
  Access later = access(u.in, {at({1, 0}), at({0, 1}, aff(1))});
  Access first = access(u.in, {at({1, 0}), at({0, 1})});
  u.add(map(Instr::tensor_copy, {2, 1299}, later, {from(first)}, {}, Work::raw));
  u.add(map(Instr::tensor_tensor, u.shape, whole(u.in, 2),
            {from(whole(u.in, 2)), from(access(u.in, {at({1, 0}), at({0, 0})}))}, {{Fn::subtract, {0, 1}}}));
  u.add(map(Instr::tensor_copy, u.shape, whole(u.result, 2), {from(whole(u.in, 2))}, {}, Work::raw));
  u.store();
  const Floats out = run(u.m.program, {counting(2600)});
  EXPECT_EQ(out[0], 0.0f);
  for (std::size_t j = 1; j < 1300; ++j) ASSERT_EQ(out[1300 + j], static_cast<float>(j - 1));
}

TEST(Engine, AllocInALoopIsFreshEachTripAndFillsAreKept) {
  Made m;
  const auto x = m.param({1, 1}), out = m.output({2, 4});
  const std::uint32_t i = m.loop_atom(5);
  Loop loop;
  loop.id = 5;
  loop.trips = 4;
  const auto inside = m.tile(BufferKind::sbuf, {1, 1}, Dtype::float32, 10, &loop.body);
  const auto outside = m.tile(BufferKind::sbuf, {1, 1}, Dtype::float32, 10);
  for (const auto id : {inside, outside}) {
    Map add = map(Instr::tensor_scalar, {1, 1}, whole(id, 2), {value(1)});
    add.accumulate = static_cast<std::uint8_t>(Fn::add);
    loop.body.push_back({3, add});
    const Access to = access(out, {at({0, 0}, aff(id == inside ? 0 : 1)), at({0, 0}, aff(0, {{i, 1}}))});
    loop.body.push_back({4, map(Instr::store, {1, 1}, to, {from(whole(id, 2))}, {}, Work::raw)});
  }
  m.program.body.push_back({2, loop});
  (void)x;
  EXPECT_THAT(run(m.program, {{0}}), ElementsAre(11, 11, 11, 11, 11, 12, 13, 14));
}

TEST(Engine, UndefinedTilesReadAsPoisonEvenWhenTheirMemoryIsUsedAgain) {
  Made m;
  const auto x = m.param({1, 1}), out = m.output({1, 3});
  const std::uint32_t i = m.loop_atom(0);
  Loop loop;
  loop.trips = 3;
  const auto tile = m.tile(BufferKind::sbuf, {1, 1}, Dtype::float32, {}, &loop.body);
  const Access to = access(out, {at({0, 0}), at({0, 0}, aff(0, {{i, 1}}))});
  loop.body.push_back({2, map(Instr::store, {1, 1}, to, {from(whole(tile, 2))}, {}, Work::raw)});
  loop.body.push_back({3, map(Instr::memset, {1, 1}, whole(tile, 2), {value(1)})});
  m.program.body.push_back({1, loop});
  (void)x;
  for (const float v : run(m.program, {{0}})) EXPECT_TRUE(std::isnan(v));
}

TEST(Engine, LoopReduceOverwritesOnTheFirstTripOfANeverFilledTile) {
  for (const bool filled : {false, true}) {
    Made m;
    const auto x = m.param({1, 6}), out = m.output({1, 2});
    const std::uint32_t i = m.loop_atom(0), k = m.loop_atom(1);
    Loop outer, inner;
    outer.trips = 2;
    inner.id = 1;
    inner.trips = 3;
    const auto in = m.tile(BufferKind::sbuf, {1, 6});
    const auto acc =
        m.tile(BufferKind::sbuf, {1, 1}, Dtype::float32, filled ? std::optional(100.0) : std::nullopt, &outer.body);
    m.program.body.push_back({1, map(Instr::load, {1, 6}, whole(in, 2), {from(whole(x, 2))}, {}, Work::raw)});
    Map reduce = map(Instr::tensor_tensor, {1, 1}, whole(acc, 2),
                     {from(access(in, {at({0, 0}), at({0, 0}, aff(0, {{i, 3}, {k, 1}}))}))});
    reduce.accumulate = static_cast<std::uint8_t>(Fn::add);
    reduce.loops = {1};
    inner.body.push_back({2, reduce});
    outer.body.push_back({3, inner});
    outer.body.push_back({4, map(Instr::store, {1, 1}, access(out, {at({0, 0}), at({0, 0}, aff(0, {{i, 1}}))}),
                                 {from(whole(acc, 2))}, {}, Work::raw)});
    m.program.body.push_back({5, outer});
    const float base = filled ? 100.0f : 0.0f;
    EXPECT_THAT(run(m.program, {{1, 2, 3, 4, 5, 6}}), ElementsAre(base + 6, base + 15));
  }
}

TEST(Engine, BranchesGridsAndDerivedAtomsFollowTheLoops) {
  Made m;
  const auto x = m.param({1, 1}), out = m.output({2, 6}, Dtype::int32);
  m.program.grid = {2};
  const std::uint32_t i = m.loop_atom(0);
  m.program.atoms.push_back({Atom::Kind::program_id, 0, {}, 1});
  m.program.atoms.push_back({Atom::Kind::floor_div, 0, aff(1, {{i, 1}}), 2});  // (i + 1) // 2
  m.program.atoms.push_back({Atom::Kind::mod, 0, aff(0, {{i, -1}}), 4});       // -i mod 4
  Loop loop;
  loop.trips = 6;
  const auto tile = m.tile(BufferKind::sbuf, {1, 1}, Dtype::int32, {}, &loop.body);
  If branch;
  branch.conditions.push_back(not_negative(at({}, aff(-3, {{i, 1}, {1, 1}}))));  // i + pid >= 3
  branch.then_body.push_back({3, map(Instr::iota, {1, 1}, whole(tile, 2),
                                     {iota(at({0, 0}, aff(100, {{2, 10}, {1, 1000}})))}, {}, Work::int32)});
  branch.else_body.push_back(
      {4, map(Instr::iota, {1, 1}, whole(tile, 2), {iota(at({0, 0}, aff(0, {{3, 1}})))}, {}, Work::int32)});
  loop.body.push_back({2, branch});
  const Access to = access(out, {at({0, 0}, aff(0, {{1, 1}})), at({0, 0}, aff(0, {{i, 1}}))});
  loop.body.push_back({5, map(Instr::store, {1, 1}, to, {from(whole(tile, 2))}, {}, Work::raw)});
  m.program.body.push_back({1, loop});
  (void)x;
  EXPECT_THAT(run<std::int32_t>(m.program, {Floats{0}}),
              ElementsAre(0, 3, 2, 120, 120, 130, 0, 3, 1110, 1120, 1120, 1130));
}

TEST(Engine, GathersThroughAnIndexTileAndReportsWhatLiesOutside) {
  const auto program = [](bool skip) {
    Made m;
    const auto x = m.param({4, 3}), indices = m.param({3, 1}, Dtype::float32), out = m.output({3, 3});
    const auto tile = m.tile(BufferKind::sbuf, {3, 1}, Dtype::int32),
               data = m.tile(BufferKind::sbuf, {3, 3}, Dtype::float32, -1);
    m.program.body.push_back({1, map(Instr::load, {3, 1}, whole(tile, 2), {from(whole(indices, 2))})});
    Access gather = access(x, {at({0, 0}), at({0, 1})});
    gather.dynamic_dim = 0;
    gather.dynamic = std::make_shared<Access>(access(tile, {at({1, 0}), at({0, 0})}));
    gather.skip_out_of_bounds = skip;
    m.program.body.push_back({7, map(Instr::load, {3, 3}, whole(data, 2), {from(gather)}, {}, Work::raw)});
    m.program.body.push_back({8, map(Instr::store, {3, 3}, whole(out, 2), {from(whole(data, 2))}, {}, Work::raw)});
    return m.program;
  };
  EXPECT_THAT(run(program(false), {counting(12), {3, 0, 3}}), ElementsAre(9, 10, 11, 0, 1, 2, 9, 10, 11));
  EXPECT_THAT(run(program(true), {counting(12), {4, -1, 1}}), ElementsAre(-1, -1, -1, -1, -1, -1, 3, 4, 5));
  RunReport report;
  run(program(false), {counting(12), {0, 4, 1}}, &report);
  EXPECT_EQ(report.code, Code::oob);
  EXPECT_EQ(report.line, 7u);
  EXPECT_THAT(report.message, HasSubstr("tensor 'b0' on dimension 0: index 4 (legal: 0 to 3)"));
}

TEST(Engine, ScatteredAdditionsToOneElementAllCount) {
  Made m;
  const auto indices = m.param({4, 1}), out = m.output({3, 2});
  const auto tile = m.tile(BufferKind::sbuf, {4, 1}, Dtype::int32),
             ones = m.tile(BufferKind::sbuf, {4, 2}, Dtype::float32, 1);
  m.program.body.push_back({1, map(Instr::load, {4, 1}, whole(tile, 2), {from(whole(indices, 2))})});
  const auto zeros = m.tile(BufferKind::sbuf, {3, 2}, Dtype::float32, 0);
  m.program.body.push_back({2, map(Instr::store, {3, 2}, whole(out, 2), {from(whole(zeros, 2))}, {}, Work::raw)});
  Access to = access(out, {at({0, 0}), at({0, 1})});
  to.dynamic_dim = 0;
  to.dynamic = std::make_shared<Access>(access(tile, {at({1, 0}), at({0, 0})}));
  Map add = map(Instr::dma_copy, {4, 2}, to, {from(whole(ones, 2))});
  add.accumulate = static_cast<std::uint8_t>(Fn::add);
  m.program.body.push_back({3, add});
  EXPECT_THAT(run(m.program, {{2, 0, 2, 2}}), ElementsAre(1, 1, 0, 0, 3, 3));
}

TEST(Engine, BlockTensorsOfAnyDeclaredSizeLiveByWhatIsTouched) {
  Made m;
  const auto x = m.param({4, 8}), out = m.output({3, 4, 8});
  const auto huge = m.tile(BufferKind::sbuf, {1LL << 30, 4, 8});
  m.program.buffers[huge].partition_dim = 1;
  const std::uint32_t i = m.loop_atom(0);
  Loop loop;
  loop.trips = 3;
  const Access tile = access(huge, {at({0, 0}, aff(5, {{i, 300'000'000}})), at({1, 0}), at({0, 1})});
  loop.body.push_back({2, map(Instr::load, {4, 8}, tile, {from(whole(x, 2))}, {}, Work::raw)});
  loop.body.push_back({3, map(Instr::tensor_scalar, {4, 8}, tile, {from(tile), iota(at({0, 0}, aff(0, {{i, 100}})))},
                              {{Fn::add, {0, 1}}})});
  m.program.body.push_back({1, loop});
  // One operation that walks over the blocks themselves.
  const Access blocks = access(huge, {at({300'000'000, 0, 0}, aff(5)), at({0, 1, 0}), at({0, 0, 1})});
  m.program.body.push_back({4, map(Instr::store, {3, 4, 8}, whole(out, 3), {from(blocks)}, {}, Work::raw)});
  const Floats out_values = run(m.program, {counting(32)});
  for (std::size_t k = 0; k < 96; ++k) ASSERT_EQ(out_values[k], static_cast<float>(k % 32 + 100 * (k / 32)));
}

TEST(Engine, MemoryBeyondTheLimitIsCapacity) {
  Made m;
  const auto x = m.param({128, 8}), out = m.output({128, 8});
  const auto tile = m.tile(BufferKind::sbuf, {4096, 128, 40'000});
  m.program.buffers[tile].partition_dim = 1;
  const std::uint32_t i = m.loop_atom(0);
  Loop loop;
  loop.trips = 4096;
  loop.body.push_back(
      {2, map(Instr::load, {128, 8}, access(tile, {at({0, 0}, aff(0, {{i, 1}})), at({1, 0}), at({0, 1})}),
              {from(whole(x, 2))}, {}, Work::raw)});
  loop.body.push_back({3, map(Instr::store, {128, 8}, whole(out, 2),
                              {from(access(tile, {at({0, 0}), at({1, 0}), at({0, 1})}))}, {}, Work::raw)});
  m.program.body.push_back({1, loop});
  validate(m.program);
  Floats in(1024), got(1024);
  const auto input = bytes_of(in);
  const std::span<std::byte> output = std::as_writable_bytes(std::span(got));
  const RunReport report = run_program(m.program, std::span(&input, 1), std::span(&output, 1), {}, {64u << 20});
  EXPECT_EQ(report.code, Code::capacity);
  EXPECT_THAT(report.message, HasSubstr("memory"));
}

TEST(Engine, ScansAlongTheLastAxis) {
  Unit u(2, 700);
  Scan scan;
  scan.head.instr = Instr::scan;
  scan.head.shape = u.shape;
  scan.dst = whole(u.result, 2);
  scan.op0 = Fn::multiply;
  scan.op1 = Fn::add;
  scan.data0 = value(0.5);
  scan.data1 = from(whole(u.in, 2));
  scan.initial = value(8);
  u.add(scan);
  u.store();
  const Floats data = counting(1400, 1);
  const Floats out = run(u.m.program, {data});
  for (std::size_t row = 0; row < 2; ++row) {
    float r = 8;
    for (std::size_t j = 0; j < 700; ++j) {
      r = 0.5f * r + data[row * 700 + j];
      ASSERT_EQ(out[row * 700 + j], r);
    }
  }
}

TEST(Engine, AnAliasSeesTheBytesOfItsBuffer) {
  Made m;
  const auto x = m.param({2, 4}), out = m.output({8}, Dtype::uint32);
  const auto alias = m.buffer(BufferKind::output, {2, 4}, Dtype::float32);
  m.program.buffers[alias].alias_of = out;
  m.program.outputs = {out};
  m.program.body.push_back({1, map(Instr::dma_copy, {2, 4}, whole(alias, 2), {from(whole(x, 2))}, {}, Work::raw)});
  RunReport report;
  const auto out_values = run<std::uint32_t>(m.program, {counting(8)}, &report);
  EXPECT_EQ(out_values[3], 0x40400000U);
  EXPECT_THAT(report.unwritten, ElementsAre(0));
}

TEST(Engine, TransposedAndReversedViewsAreStrides) {
  Made m;
  const auto x = m.param({3, 5}), out = m.output({5, 3});
  m.program.body.push_back({1, map(Instr::dma_transpose, {5, 3}, whole(out, 2),
                                   {from(access(x, {at({0, -1}, aff(2)), at({1, 0})}))}, {}, Work::raw)});
  EXPECT_THAT(run(m.program, {counting(15)}), ElementsAreArray({10, 5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4}));
}

TEST(Engine, ChainsOfCopiesGiveWhatEachCopyWouldGive) {
  const Floats got = run(chain_program(), {counting(60)});
  EXPECT_TRUE(std::isnan(got[0]));
  for (std::size_t k = 1; k < 24; ++k) EXPECT_EQ(got[k], static_cast<float>((k / 6 + 2) * 10 + k % 6 + 3)) << k;
}

TEST(Engine, ATileReadBeforeItsLoadIsStillUndefined) {
  Unit u(2, 3);
  Block& body = u.m.program.body;
  body.insert(body.end() - 1,
              Node{9, map(Instr::tensor_copy, {2, 3}, whole(u.result, 2), {from(whole(u.in, 2))}, {}, Work::raw)});
  u.store();
  for (const float v : run(u.m.program, {counting(6)})) EXPECT_TRUE(std::isnan(v));
}

TEST(Engine, WrongSizesAreTheCallersBug) {
  const Program program = add_program(1, 4);
  EXPECT_THROW(run_program(program, {}, {}, {}), std::exception);
}

TEST(Engine, TwoRunsGiveTheSameBytes) {
  const Floats x = counting(128 * 33, 0.1f), y = counting(128 * 33, 0.7f);
  EXPECT_EQ(run(add_program(1, 33), {x, y}), run(add_program(1, 33), {x, y}));
}

}  // namespace
}  // namespace nkigrid::nkisim
