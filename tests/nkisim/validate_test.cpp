#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "jobs/base/error.hpp"
#include "runner/nkisim/program/program.hpp"
#include "runner/nkisim/program/validate.hpp"
#include "tests/nkisim/make.hpp"

namespace nkigrid::nkisim {
namespace {

using namespace make;
using ::testing::HasSubstr;

std::string refusal(const Program& program) {
  try {
    validate(program);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
    return error.what();
  }
  return "valid";
}

Loop& loop_of(Program& p) { return std::get<Loop>(p.body.back().what); }
Map& map_of(Program& p, std::size_t k) { return std::get<Map>(loop_of(p).body.at(k).what); }

/// add_program(2, 8) after a change: nodes of its loop are alloc, alloc, alloc, load, load, add, store.
std::string changed(const std::function<void(Program&)>& change) {
  Program p = add_program(2, 8);
  change(p);
  return refusal(p);
}

TEST(Validate, AcceptsAGoodProgram) { EXPECT_EQ(refusal(add_program(2, 8)), "valid"); }

TEST(Validate, NamesTheLine) {
  EXPECT_THAT(changed([](Program& p) { map_of(p, 5).sources.clear(); }), HasSubstr("at line 4: no source"));
}

TEST(Validate, RefusesWrongMemory) {
  EXPECT_THAT(changed([](Program& p) { map_of(p, 6).dst.buffer = 0; }), HasSubstr("parameter 'b0' is written"));
  EXPECT_THAT(changed([](Program& p) { map_of(p, 5).sources[0].access.buffer = 0; }), HasSubstr("lies in HBM"));
  EXPECT_THAT(changed([](Program& p) { p.buffers[3].shape = {129, 8}; }), HasSubstr("129 partitions (at most 128)"));
  EXPECT_THAT(changed([](Program& p) {
                p.buffers[3].shape = {128, 45'057};
              }),
              HasSubstr("180228 bytes a partition (at most 180224)"));
  EXPECT_THAT(changed([](Program& p) {
                p.buffers[3].kind = BufferKind::psum;
                p.buffers[3].shape = {128, 4097};
              }),
              HasSubstr("at most 16384"));
}

TEST(Validate, RefusesUnprovenBoundsWithoutAMask) {
  const auto off_by_one = [](Program& p) { map_of(p, 3).sources[0].access.dims[0].base.constant = 1; };
  EXPECT_THAT(changed(off_by_one), HasSubstr("index range [1, 256] exceeds the dimension's size of 256"));
  EXPECT_EQ(changed([&](Program& p) {
              off_by_one(p);
              map_of(p, 3).head.mask.push_back(not_negative(at({-1, 0}, aff(126))));
            }),
            "valid");
}

TEST(Validate, RefusesUseOutsideOfTheRegionOfTheAlloc) {
  EXPECT_THAT(changed([](Program& p) {
                p.body.push_back({9, map_of(p, 5)});
              }),
              HasSubstr("used outside of the region"));
  EXPECT_THAT(changed([](Program& p) { std::swap(loop_of(p).body[0], loop_of(p).body[3]); }),
              HasSubstr("used outside of the region"));
  EXPECT_THAT(changed([](Program& p) {
                p.body.insert(p.body.begin(), {1, Alloc{3, {}}});
              }),
              HasSubstr("a second alloc"));
}

TEST(Validate, RefusesLoopVariablesOutsideOfTheirLoop) {
  EXPECT_THAT(changed([](Program& p) {
                Block body = std::move(loop_of(p).body);
                p.body.insert(p.body.end(), std::make_move_iterator(body.begin()), std::make_move_iterator(body.end()));
                for (Node& node : p.body) {
                  if (Loop* loop = std::get_if<Loop>(&node.what)) loop->body.clear();
                }
              }),
              HasSubstr("outside of its loop"));
}

TEST(Validate, RefusesOutputsThatNothingWrites) {
  EXPECT_THAT(changed([](Program& p) { loop_of(p).body.pop_back(); }), HasSubstr("output 'b2' is never written"));
  EXPECT_THAT(changed([](Program& p) { loop_of(p).trips = 0; }), HasSubstr("output 'b2' is never written"));
}

TEST(Validate, RefusesEndlessWork) {
  EXPECT_THAT(changed([](Program& p) { p.grid = {60'000, 60'000}; }), HasSubstr("more than 1e+08 operations"));
  EXPECT_THAT(changed([](Program& p) {
                Loop empty;
                empty.id = 9;
                empty.trips = 1'000'000'000'000'000'000;
                p.body.push_back({8, empty});
              }),
              HasSubstr("operations would be executed"));
}

TEST(Validate, RefusesOverflow) {
  EXPECT_THAT(changed([](Program& p) { map_of(p, 3).sources[0].access.dims[0].base.terms[0].coefficient = INT64_MAX; }),
              HasSubstr("overflows"));
  EXPECT_THAT(changed([](Program& p) { p.buffers[0].shape = {1LL << 40, 1LL << 40}; }), HasSubstr("overflows"));
}

TEST(Validate, RefusesOddPartitionStartsOfEnginesButNotOfDma) {
  const auto narrow = [](Program& p, std::size_t node, std::int64_t start) {
    for (Access* a : {&map_of(p, node).dst, &map_of(p, node).sources[0].access}) {
      if (p.buffers[a->buffer].kind == BufferKind::sbuf) a->dims[0].base.constant = start;
    }
    map_of(p, node).head.shape[0] = 16;
  };
  EXPECT_THAT(changed([&](Program& p) { narrow(p, 5, 16); }), HasSubstr("no multiple of 32"));
  EXPECT_EQ(changed([&](Program& p) { narrow(p, 5, 32); }), "valid");
  EXPECT_EQ(changed([&](Program& p) { narrow(p, 3, 17); }), "valid");
}

TEST(Validate, RefusesFunctionsThatTheWorkDoesNotHave) {
  EXPECT_THAT(changed([](Program& p) { map_of(p, 5).steps[0].fn = Fn::bitwise_and; }),
              HasSubstr("does not exist in float32 work"));
  EXPECT_THAT(changed([](Program& p) {
                map_of(p, 5).work = Work::int32;
                map_of(p, 5).steps = {{Fn::exp, {0}}};
              }),
              HasSubstr("does not exist in int32 work"));
  EXPECT_THAT(changed([](Program& p) { map_of(p, 5).accumulate = static_cast<std::uint8_t>(Fn::divide); }),
              HasSubstr("cannot accumulate"));
  EXPECT_THAT(changed([](Program& p) {
                map_of(p, 5).accumulate = static_cast<std::uint8_t>(Fn::add);
                map_of(p, 5).loops = {77};
              }),
              HasSubstr("loop 77 does not enclose"));
  EXPECT_THAT(changed([](Program& p) { p.buffers[0].dtype = Dtype::int32; }), HasSubstr("raw copy that is not"));
}

TEST(Validate, RefusesWhatIsNotPartOfThisVersion) {
  EXPECT_THAT(changed([](Program& p) {
                SpecialOp op;
                op.kind = Special::local_gather;
                op.head.shape = {128, 8};
                loop_of(p).body.insert(loop_of(p).body.end() - 1, {4, op});
              }),
              HasSubstr("operation 'local_gather' is not part of this version"));
}

/// An instruction says what an operation costs, so that a program which no tracer made may not say less.
class InstructionForm : public ::testing::Test {
 protected:
  InstructionForm() {
    x_ = made_.param({128, 64}), y_ = made_.param({64, 32}), out_ = made_.output({128, 32});
    tile_ = made_.tile(BufferKind::sbuf, {128, 64}), rows_ = made_.tile(BufferKind::sbuf, {128, 1});
    turned_ = made_.tile(BufferKind::sbuf, {64, 128});
  }
  template <class Op>
  std::string with(Op op) {
    Made made = made_;
    made.program.body.push_back({2, map(Instr::load, {128, 64}, whole(tile_, 2), {from(whole(x_, 2))})});
    made.program.body.push_back({3, std::move(op)});
    made.program.body.push_back({4, map(Instr::store, {128, 32}, whole(out_, 2), {from(columns(tile_))})});
    return refusal(made.program);
  }
  Access columns(std::uint32_t buffer) const { return access(buffer, {at({1, 0}), at({0, 1})}); }
  /// out = x @ y, as a fold of products.
  Fold product(Instr instr, Engine engine) const {
    Fold fold;
    fold.head.instr = instr;
    fold.head.engine = engine;
    fold.head.shape = {128, 32, 64};
    fold.dst = access(out_, {at({1, 0, 0}), at({0, 1, 0})});
    fold.sources = {from(access(x_, {at({1, 0, 0}), at({0, 0, 1})})), from(access(y_, {at({0, 0, 1}), at({0, 1, 0})}))};
    fold.steps = {{Fn::multiply, {0, 1}}};
    return fold;
  }
  Made made_;
  std::uint32_t x_ = 0, y_ = 0, out_ = 0, tile_ = 0, rows_ = 0, turned_ = 0;
};

TEST_F(InstructionForm, DmaComputesNothing) {
  EXPECT_THAT(with(product(Instr::load, Engine::dma)), HasSubstr("instruction 'load' stands on a fold"));
  EXPECT_THAT(with(product(Instr::dma_copy, Engine::dma)), HasSubstr("instruction 'dma_copy' stands on a fold"));
  EXPECT_THAT(with(product(Instr::tensor_reduce, Engine::vector)), HasSubstr("lies in HBM"));
  Map twice = map(Instr::store, {128, 32}, whole(out_, 2), {from(columns(x_))}, {{Fn::add, {0, 0}}});
  EXPECT_THAT(with(twice), HasSubstr("instruction 'store' has 1 steps (at most 0)"));
  twice.steps.clear();
  EXPECT_EQ(with(twice), "valid");
  twice.sources.push_back(from(columns(x_)));
  EXPECT_THAT(with(twice), HasSubstr("instruction 'store' has 2 sources"));
}

TEST_F(InstructionForm, RunsOnAnEngineOfItsOwn) {
  Map copy = map(Instr::tensor_copy, {128, 64}, whole(tile_, 2), {from(whole(tile_, 2))});
  EXPECT_EQ(with(copy), "valid");
  copy.head.engine = Engine::dma;
  EXPECT_THAT(with(copy), HasSubstr("another engine"));
  Map load = map(Instr::load, {128, 64}, whole(tile_, 2), {from(whole(x_, 2))});
  load.head.engine = Engine::vector;
  EXPECT_THAT(with(load), HasSubstr("another engine"));
}

TEST_F(InstructionForm, HasNoMoreStepsThanTheTracerMakesOfIt) {
  const auto squared = [&](Instr instr, std::size_t times) {
    return with(map(instr, {128, 64}, whole(tile_, 2), {from(whole(tile_, 2))},
                    std::vector<Step>(times, Step{Fn::square, {0}})));
  };
  EXPECT_EQ(squared(Instr::activation, 3), "valid");
  EXPECT_THAT(squared(Instr::activation, 4), HasSubstr("'activation' has 4 steps (at most 3)"));
  EXPECT_THAT(squared(Instr::tensor_copy, 1), HasSubstr("'tensor_copy' has 1 steps"));
  EXPECT_THAT(squared(Instr::scan, 1), HasSubstr("'scan' stands on a map"));
  EXPECT_THAT(squared(Instr::matmul, 0), HasSubstr("'matmul' stands on a map"));
}

TEST_F(InstructionForm, ReadsThePartitionsThatItWrites) {
  const Access swapped = access(turned_, {at({0, 1}), at({1, 0})});
  EXPECT_THAT(with(map(Instr::tensor_copy, {128, 64}, whole(tile_, 2), {from(swapped)})),
              HasSubstr("'tensor_copy' reads 'b5' in other partitions than it writes"));
  EXPECT_EQ(with(map(Instr::transpose, {128, 64}, whole(tile_, 2), {from(swapped)})), "valid");
  Fold fold;
  fold.head.instr = Instr::tensor_reduce;
  fold.head.shape = {128, 64};
  fold.sources = {from(whole(tile_, 2))};
  fold.dst = access(rows_, {at({1, 0}), at({0, 0})});
  EXPECT_EQ(with(fold), "valid");
  fold.dst = access(tile_, {at({0, 0}), at({0, 1})});
  EXPECT_THAT(with(fold), HasSubstr("in other partitions"));
  fold.head.instr = Instr::partition_reduce;
  EXPECT_EQ(with(fold), "valid");
}

TEST_F(InstructionForm, OfRandomNumbersReadsNoTile) {
  const auto random = [&](Access seed) {
    return with(map(Instr::random, {128, 64}, whole(tile_, 2), {from(std::move(seed))}, {{Fn::square, {0}}}));
  };
  EXPECT_EQ(random(access(rows_, {at({0, 0}), at({0, 0})})), "valid");
  EXPECT_THAT(random(access(rows_, {at({1, 0}), at({0, 0})})), HasSubstr("random numbers are made of a tile"));
}

/// A matmul of (k, m, n) whose result lies `offset` floats into a PSUM tile of `width` floats a partition.
std::string matmul(std::int64_t k, std::int64_t m, std::int64_t n, std::int64_t offset, std::int64_t width,
                   Dtype a = Dtype::float32, Dtype b = Dtype::float32, BufferKind kind = BufferKind::psum) {
  Program p = add_program(2, 8);
  Made made;
  made.program = p;
  const auto at_ = made.tile(BufferKind::sbuf, {std::min<std::int64_t>(k, 128), m}, a),
             bt = made.tile(BufferKind::sbuf, {std::min<std::int64_t>(k, 128), n}, b);
  const auto psum = made.tile(kind, {std::min<std::int64_t>(m, 128), width});
  Matmul op;
  op.head.shape = {k, m, n};
  op.head.instr = Instr::matmul;
  op.dst = access(psum, {at({0, 1, 0}), at({0, 0, 1}, aff(offset))});
  op.stationary = access(at_, {at({1, 0, 0}), at({0, 1, 0})});
  op.moving = access(bt, {at({1, 0, 0}), at({0, 0, 1})});
  made.program.body.push_back({9, op});
  return refusal(made.program);
}

TEST(Validate, HoldsMatmulsToTheTensorEnginesLimits) {
  EXPECT_EQ(matmul(128, 128, 512, 0, 512), "valid");
  EXPECT_EQ(matmul(128, 128, 512, 512, 1024), "valid");
  EXPECT_THAT(matmul(128, 128, 512, 256, 1024), HasSubstr("one PSUM bank"));
  EXPECT_THAT(matmul(129, 128, 512, 0, 512), HasSubstr("K 129"));
  EXPECT_THAT(matmul(128, 128, 513, 0, 1024), HasSubstr("N 513"));
  EXPECT_THAT(matmul(128, 128, 512, 0, 512, Dtype::float32, Dtype::bfloat16), HasSubstr("mixes 32-bit and narrower"));
  EXPECT_THAT(matmul(128, 128, 512, 0, 512, Dtype::int32, Dtype::int32), HasSubstr("integers"));
  EXPECT_THAT(matmul(128, 128, 512, 0, 512, Dtype::float32, Dtype::float32, BufferKind::sbuf),
              HasSubstr("not in PSUM"));
}

}  // namespace
}  // namespace nkigrid::nkisim
