#include <gtest/gtest.h>

#include <numeric>

#include "runner/nkisim/engine/absorb.hpp"
#include "runner/nkisim/engine/forward.hpp"
#include "tests/nkisim/make.hpp"

namespace nkigrid::nkisim {
namespace {

using namespace make;

std::vector<float> numbers(std::size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

/// The program as the engine makes it: copies left out, loops absorbed.
Program absorbed(const Program& program) {
  Program result = forwarded(program, Ranges(program));
  absorb_loops(result);
  return result;
}

/// The bytes with and without the rewrites: the second is the program as it stands.
void expect_same_bytes(const Program& program, const std::vector<std::vector<float>>& inputs) {
  validate(program);
  std::vector<std::span<const std::byte>> in;
  for (const auto& input : inputs) in.push_back(bytes_of(input));
  std::size_t count = 1;
  for (const std::int64_t extent : program.buffers[program.outputs.at(0)].shape)
    count *= static_cast<std::size_t>(extent);
  std::vector<float> out[2] = {std::vector<float>(count), std::vector<float>(count)};
  for (const bool rewrite : {false, true}) {
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(out[rewrite]));
    RunOptions options;
    options.limits.leave_out_copies = rewrite;
    EXPECT_EQ(run_program(program, in, std::span(&bytes, 1), {}, options).code, Code::none);
  }
  EXPECT_EQ(std::memcmp(out[0].data(), out[1].data(), count * sizeof(float)), 0);
}

/// out[step t + j] = x[j + from_trip t] for j < 4, by trips t < 5 of a loop.
Program shifted(std::int64_t step, bool from_output) {
  Made m;
  const auto x = m.param({40}), out = m.output({40});
  const std::uint32_t t = m.loop_atom(0);
  Loop loop;
  loop.trips = 5;
  const auto to = access(out, {at({1}, aff(from_output ? 4 : 0, {{t, step}}))});
  const auto source = access(from_output ? out : x, {at({1}, aff(0, {{t, from_output ? step : 3}}))});
  if (from_output) {
    m.program.body.push_back(
        {1, map(Instr::dma_copy, {4}, access(out, {at({1})}), {from(access(x, {at({1})}))}, {}, Work::raw)});
  }
  loop.body.push_back({1, map(Instr::dma_copy, {4}, to, {from(source)}, {}, Work::raw)});
  m.program.body.push_back({2, loop});
  return m.program;
}

TEST(Absorb, TilesOfAnElementwiseKernelBecomeOneMap) {
  const Program program = absorbed(add_program(4, 6));
  ASSERT_EQ(program.body.size(), 1u);
  const Map* map = std::get_if<Map>(&program.body[0].what);
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(map->head.shape, (std::vector<std::int64_t>{4, 128, 6}));
  expect_same_bytes(add_program(4, 6), {numbers(4 * 128 * 6), numbers(4 * 128 * 6)});
}

TEST(Absorb, TripsThatWriteApartAreAbsorbed) {
  EXPECT_TRUE(std::holds_alternative<Map>(absorbed(shifted(4, false)).body.back().what));
  expect_same_bytes(shifted(4, false), {numbers(40)});
}

TEST(Absorb, TripsThatWriteOverOneAnotherKeepTheirOrder) {
  EXPECT_TRUE(std::holds_alternative<Loop>(absorbed(shifted(2, false)).body.back().what));
  EXPECT_TRUE(std::holds_alternative<Loop>(absorbed(shifted(0, false)).body.back().what));
  expect_same_bytes(shifted(2, false), {numbers(40)});
  expect_same_bytes(shifted(0, false), {numbers(40)});
}

TEST(Absorb, TripsThatReadWhatFormerOnesWroteKeepTheirOrder) {
  EXPECT_TRUE(std::holds_alternative<Loop>(absorbed(shifted(4, true)).body.back().what));
  expect_same_bytes(shifted(4, true), {numbers(40)});
}

TEST(Absorb, TheGridIsAbsorbedAxisByAxis) {
  Made m;
  const auto x = m.param({6, 8}), out = m.output({6, 8});
  m.program.grid = {3, 2};
  m.program.atoms.push_back({Atom::Kind::program_id, 0, {}, 1});
  m.program.atoms.push_back({Atom::Kind::program_id, 1, {}, 1});
  const auto part = [&](std::uint32_t id) {
    return access(id, {at({1, 0}, aff(0, {{0, 2}})), at({0, 1}, aff(0, {{1, 4}}))});
  };
  m.program.body.push_back({1, map(Instr::dma_copy, {2, 4}, part(out), {from(part(x))}, {}, Work::raw)});
  const Program program = absorbed(m.program);
  EXPECT_EQ(program.grid, (std::vector<std::int64_t>{1, 1}));
  // In the order of what they move: the axes of one row of x stand together.
  EXPECT_EQ(std::get<Map>(program.body[0].what).head.shape, (std::vector<std::int64_t>{3, 2, 2, 4}));
  expect_same_bytes(m.program, {numbers(48)});
}

TEST(Absorb, ADerivedIndexIsLeftAlone) {
  Made m;
  const auto x = m.param({8, 4}), out = m.output({8, 4});
  const std::uint32_t t = m.loop_atom(0);
  m.program.atoms.push_back({Atom::Kind::mod, 0, aff(0, {{t, 1}}), 3});
  Loop loop;
  loop.trips = 8;
  loop.body.push_back({1, map(Instr::dma_copy, {1, 4}, access(out, {at({1, 0}, aff(0, {{t, 1}})), at({0, 1})}),
                              {from(access(x, {at({1, 0}, aff(0, {{1, 1}})), at({0, 1})}))}, {}, Work::raw)});
  m.program.body.push_back({2, loop});
  EXPECT_TRUE(std::holds_alternative<Loop>(absorbed(m.program).body.back().what));
  expect_same_bytes(m.program, {numbers(32)});
}

}  // namespace
}  // namespace nkigrid::nkisim
