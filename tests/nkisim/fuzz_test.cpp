#include <gtest/gtest.h>

#include "jobs/base/draws.hpp"
#include "jobs/base/error.hpp"
#include "runner/nkisim/engine/run.hpp"
#include "runner/nkisim/estimate/estimate.hpp"
#include "runner/nkisim/program/parse.hpp"
#include "runner/nkisim/program/validate.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/nkisim/sample.hpp"
#include "tests/nkisim/write.hpp"

namespace nkigrid::nkisim {
namespace {

using namespace make;

/// One to four random edits: a byte changed, dropped, doubled, or a piece moved.
std::string mutated(std::string bytes, Draws& draws) {
  for (std::uint64_t edits = 1 + draws.below(4); edits > 0 && bytes.size() > 16; --edits) {
    const std::size_t at = 9 + draws.below(bytes.size() - 9);
    switch (draws.below(5)) {
      case 0:
        bytes[at] = static_cast<char>(draws.below(256));
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] + (draws.below(2) != 0 ? 1 : -1));
        break;
      case 2:
        bytes[at] = static_cast<char>(draws.below(8));
        break;
      case 3:
        bytes.erase(at, 1);
        break;
      default:
        bytes.insert(at, 1, static_cast<char>(draws.below(256)));
        break;
    }
  }
  return bytes;
}

/// A program that uses every kind of operation, small enough to run thousands of times.
Program busy_program() {
  Made m;
  const auto x = m.param({8, 24}), out = m.output({8, 24}), sums = m.output({8, 1}, Dtype::bfloat16);
  const std::uint32_t i = m.loop_atom(0);
  m.program.atoms.push_back({Atom::Kind::mod, 0, aff(0, {{i, 1}}), 2});
  const auto in = m.tile(BufferKind::sbuf, {8, 24}), work = m.tile(BufferKind::sbuf, {2, 8, 24}),
             psum = m.tile(BufferKind::psum, {8, 24});
  m.program.buffers[work].partition_dim = 1;
  const auto small = m.tile(BufferKind::sbuf, {8, 1}), index = m.tile(BufferKind::sbuf, {8, 1}, Dtype::int32),
             stats = m.tile(BufferKind::sbuf, {8, 6});
  m.program.body.push_back({1, map(Instr::load, {8, 24}, whole(in, 2), {from(whole(x, 2))}, {}, Work::raw)});
  m.program.body.push_back({2, map(Instr::iota, {8, 1}, whole(index, 2), {iota(at({1, 0}))}, {}, Work::int32)});
  Loop loop;
  loop.trips = 3;
  const Access block = access(work, {at({0, 0}, aff(0, {{1, 1}})), at({1, 0}), at({0, 1})});
  Map first =
      map(Instr::activation, {8, 24}, block, {from(whole(in, 2)), value(0.5), iota(at({0, 1}, aff(0, {{i, 2}})))},
          {{Fn::multiply, {0, 1}}, {Fn::add, {3, 2}}, {Fn::tanh, {4}}});
  first.head.mask.push_back(not_negative(at({-1, -1}, aff(28))));
  loop.body.push_back({3, first});
  Fold fold;
  fold.head.instr = Instr::tensor_reduce;
  fold.head.shape = {8, 24};
  fold.dst = access(small, {at({1, 0}), at({0, 0})});
  fold.sources = {from(block)};
  fold.accumulate = static_cast<std::uint8_t>(Fn::add);
  fold.loops = {0};
  loop.body.push_back({4, fold});
  Matmul matmul;
  matmul.head.instr = Instr::matmul;
  matmul.head.shape = {8, 8, 24};
  matmul.dst = access(psum, {at({0, 1, 0}), at({0, 0, 1})});
  matmul.stationary = access(in, {at({1, 0, 0}), at({0, 1, 0}, aff(0, {{i, 8}}))});
  matmul.moving = access(in, {at({1, 0, 0}), at({0, 0, 1})});
  matmul.head.mask.push_back(not_negative(at({-1, 0, 0}, aff(6))));
  matmul.head.mask.push_back({Condition::Kind::not_zero, at({0, 0, 1}, aff(-5, {{i, 1}}))});
  matmul.accumulate = true;
  If branch;
  branch.conditions.push_back({Condition::Kind::not_zero, at({}, aff(-1, {{i, 1}}))});
  branch.then_body.push_back({5, matmul});
  Scan scan;
  scan.head.instr = Instr::scan;
  scan.head.shape = {8, 24};
  scan.dst = whole(in, 2);
  scan.data0 = value(0.5);
  scan.data1 = from(whole(in, 2));
  scan.initial = from(access(small, {at({1, 0}), at({0, 0})}));
  branch.else_body.push_back({6, scan});
  loop.body.push_back({7, branch});
  m.program.body.push_back({8, loop});
  SpecialOp special;
  special.head.instr = Instr::bn_stats;
  special.head.shape = {8, 24};
  special.destinations = {whole(stats, 2)};
  special.sources = {from(whole(in, 2))};
  m.program.body.push_back({9, special});
  Access scattered = access(out, {at({0, 0}), at({0, 1})});
  scattered.dynamic_dim = 0;
  scattered.dynamic = std::make_shared<Access>(access(index, {at({1, 0}), at({0, 0})}));
  m.program.body.push_back({10, map(Instr::store, {8, 24}, scattered, {from(whole(psum, 2))}, {}, Work::raw)});
  m.program.body.push_back({11, map(Instr::store, {8, 1}, whole(sums, 2), {from(whole(small, 2))})});
  return m.program;
}

/// Work that a validated program would do; the fuzzers run small ones only.
bool is_small(const Program& program) {
  std::uint64_t bytes = 0;
  for (const Buffer& b : program.buffers) {
    std::uint64_t size = size_of(b.dtype);
    for (const std::int64_t extent : b.shape)
      size *= static_cast<std::uint64_t>(std::min<std::int64_t>(extent, 1 << 20));
    if (size > (1u << 22)) return false;
    bytes += size;
  }
  std::uint64_t work = 1;
  const auto visit = [&](const auto& self, const Block& block, std::uint64_t times) -> void {
    for (const Node& node : block) {
      work += times;
      if (const Loop* loop = std::get_if<Loop>(&node.what))
        self(self, loop->body, times * static_cast<std::uint64_t>(std::min<std::int64_t>(loop->trips, 100'000)));
      if (const If* branch = std::get_if<If>(&node.what)) {
        self(self, branch->then_body, times);
        self(self, branch->else_body, times);
      }
      std::visit(
          [&](const auto& op) {
            if constexpr (requires { op.head; }) {
              std::uint64_t points = times;
              for (const std::int64_t extent : op.head.shape)
                points *= static_cast<std::uint64_t>(std::min<std::int64_t>(extent, 100'000));
              work += std::min<std::uint64_t>(points, 1u << 30);
            }
          },
          node.what);
    }
  };
  std::uint64_t instances = 1;
  for (const std::int64_t extent : program.grid)
    instances *= static_cast<std::uint64_t>(std::min<std::int64_t>(extent, 100'000));
  visit(visit, program.body, instances);
  return bytes < (16u << 20) && work < 200'000;
}

/// Runs with exactly sized buffers, so that a sanitizer sees any byte out of place.
void run_once(const Program& program) {
  const auto bytes = [&](std::uint32_t id) {
    std::size_t size = size_of(program.buffers[id].dtype);
    for (const std::int64_t extent : program.buffers[id].shape) size *= static_cast<std::size_t>(extent);
    return size;
  };
  std::vector<std::vector<std::byte>> inputs, outputs[2];
  for (const std::uint32_t id : program.params) {
    inputs.emplace_back(bytes(id));
    for (std::size_t k = 0; k < inputs.back().size(); ++k)
      inputs.back()[k] = static_cast<std::byte>(k % 4 == 3 ? 0x3e : (k * 37) % 256);
  }
  std::vector<std::span<const std::byte>> in(inputs.begin(), inputs.end());
  RunReport reports[2];
  for (const int way : {0, 1}) {
    for (const std::uint32_t id : program.outputs) outputs[way].emplace_back(bytes(id));
    std::vector<std::span<std::byte>> out(outputs[way].begin(), outputs[way].end());
    reports[way] = run_program(program, in, out, {}, {64u << 20, way == 0});
    EXPECT_EQ(reports[way].unwritten.size(), program.outputs.size());
  }
  // Leaving copies out changes no byte.
  EXPECT_EQ(reports[0].code, reports[1].code);
  if (reports[0].code == Code::none) {
    EXPECT_EQ(outputs[0], outputs[1]);
    EXPECT_EQ(reports[0].unwritten, reports[1].unwritten);
  }
  EXPECT_GE(estimate_us(program), 0);
}

TEST(Fuzz, TheEntryTakesSeedsAndTheirMutations) {
  Draws draws(20260705);
  for (const Program& seed : {sample_program(), busy_program(), add_program(2, 8)}) {
    const std::string bytes = to_bytes(seed);
    for (int k = 0; k < 1500; ++k) {
      const std::string forged = k == 0 ? bytes : mutated(bytes, draws);
      fuzz::program(forged);
    }
  }
}

TEST(Fuzz, MutatedProgramsThatPassValidationRunInBounds) {
  Draws draws(2607);
  int ran = 0, refused = 0;
  for (const Program& seed : {busy_program(), add_program(2, 8), chain_program()}) {
    validate(seed);
    const std::string bytes = to_bytes(seed);
    for (int k = 0; k < 3000; ++k) {
      try {
        const Program program = parse_program(k == 0 ? bytes : mutated(bytes, draws));
        validate(program);
        if (!is_small(program)) continue;
        run_once(program);
        ++ran;
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ErrorCode::corrupt) << error.what();
        ++refused;
      }
    }
  }
  EXPECT_GT(ran, 200);
  EXPECT_GT(refused, 2000);
}

}  // namespace
}  // namespace nkigrid::nkisim
