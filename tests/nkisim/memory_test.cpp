#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>

#include "runner/nkisim/program/liveness.hpp"
#include "runner/nkisim/program/validate.hpp"
#include "tests/nkisim/make.hpp"

namespace nkigrid::nkisim {
namespace {

using namespace make;

constexpr std::int64_t kBlocks = 4096;  // of (128, 512) float32: 1 GiB

/// slab [kBlocks, 128, 512] in SBUF; for i, for r < sweeps: slab[i] = x; acc += slab[i]. out = acc.
Program slab_program(std::int64_t blocks, bool sweeps_outside = false) {
  Made m;
  const auto x = m.param({128, 512}), out = m.output({128, 512});
  const auto slab = m.tile(BufferKind::sbuf, {blocks, 128, 512});
  m.program.buffers[slab].partition_dim = 1;
  const auto acc = m.tile(BufferKind::sbuf, {128, 512}, Dtype::float32, 0);
  const std::uint32_t i = m.loop_atom(0);
  const Access block = access(slab, {at({0, 0}, aff(0, {{i, 1}})), at({1, 0}), at({0, 1})});
  Loop loop;
  loop.trips = blocks;
  loop.body.push_back({2, map(Instr::load, {128, 512}, block, {from(whole(x, 2))}, {}, Work::raw)});
  Map sum = map(Instr::tensor_tensor, {128, 512}, whole(acc, 2), {from(block)});
  sum.accumulate = static_cast<std::uint8_t>(Fn::add);
  loop.body.push_back({3, sum});
  if (sweeps_outside) {  // every block is touched again in the second sweep
    Loop sweeps;
    sweeps.id = 1;
    sweeps.trips = 2;
    sweeps.body.push_back({1, loop});
    m.program.body.push_back({1, sweeps});
  } else {
    m.program.body.push_back({1, loop});
  }
  m.program.body.push_back({4, map(Instr::store, {128, 512}, whole(out, 2), {from(whole(acc, 2))}, {}, Work::raw)});
  return m.program;
}

#if defined(__SANITIZE_ADDRESS__)
// A sanitizer's shadow and quarantine are memory too: the numbers alone are asked for.
constexpr bool kIsMeasured = false;
#else
constexpr bool kIsMeasured = true;
#endif

TEST(Memory, AGigabyteOfBlocksRunsInWhatIsLive) {
  const Program program = slab_program(kBlocks);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto out = run(program, {std::vector<float>(128 * 512, 1.0f)});
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const bool right = out.front() == static_cast<float>(kBlocks) && out.back() == static_cast<float>(kBlocks);
    _exit(!right ? 1 : !kIsMeasured || usage.ru_maxrss < 128 * 1024 ? 0 : 2);  // [KiB]: an eighth of what is declared
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "1: wrong numbers, 2: more than 128 MiB resident";
}

/// As trials of a check do it, in a child that keeps what is freed.
TEST(Memory, ARunTakesTheMemoryThatAnEarlierOneGaveBack) {
  Program program = slab_program(4);
  validate(program);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    const std::vector<float> x(128 * 512, 1.0f);
    std::vector<float> out(128 * 512);
    const auto in = bytes_of(x);
    const std::span<std::byte> memory = std::as_writable_bytes(std::span<float>(out));
    const auto run_once = [&] { run_program(program, std::span(&in, 1), std::span(&memory, 1), {}); };
    run_once();
    const auto* end = static_cast<const std::byte*>(sbrk(0));
    for (int k = 0; k < 4; ++k) run_once();
    const auto grown = static_cast<const std::byte*>(sbrk(0)) - end;
    _exit(!kIsMeasured || grown < 1024 * 1024 ? 0 : 1);  // four tiles, of which each run has two
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "the heap grew with every run";
}

TEST(Memory, BlocksThatAnotherTripTouchesAreKept) {
  EXPECT_EQ(dead_after_trip(slab_program(4)).size(), 1u);
  EXPECT_TRUE(dead_after_trip(slab_program(4, true)).empty());
  // A sum that runs through one block: the next trip needs it.
  Program carried = slab_program(4);
  Loop& loop = std::get<Loop>(carried.body[2].what);
  std::get<Map>(loop.body[0].what).dst.dims[0].base = {};
  std::get<Map>(loop.body[1].what).sources[0].access.dims[0].base = {};
  EXPECT_TRUE(dead_after_trip(carried).empty());
  // Each trip reads the block before.
  Program shifted = slab_program(4);
  std::get<Map>(std::get<Loop>(shifted.body[2].what).body[1].what).sources[0].access.dims[0].base.constant = -1;
  EXPECT_TRUE(dead_after_trip(shifted).empty());
}

TEST(Memory, WhatIsTouchedBeyondTheLimitIsAFaultOfTheKernel) {
  const Program program = slab_program(64, true);
  validate(program);
  const std::vector<float> x(128 * 512, 1.0f);
  std::vector<float> out(128 * 512);
  const auto in = bytes_of(x);
  const std::span<std::byte> memory = std::as_writable_bytes(std::span<float>(out));
  RunLimits limits;
  limits.memory_bytes = 8 << 20;
  const auto report = run_program(program, std::span(&in, 1), std::span(&memory, 1), {}, {limits});
  EXPECT_EQ(report.code, Code::capacity);
  EXPECT_EQ(report.line, 2u);
}

double cpu_seconds_to_run(const Program& program) {
  const std::clock_t start = std::clock();
  run(program, {std::vector<float>(8, 1.0f)});
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// Near the format's caps, where work that grows with nodes times atoms, or with allocs times nodes, would take
/// minutes.
TEST(Memory, LoweringLargeProgramsIsBounded) {
  Made loops;
  const auto x = loops.param({1, 8}), out = loops.output({1, 8});
  loops.program.body.push_back({1, map(Instr::dma_copy, {1, 8}, whole(out, 2), {from(whole(x, 2))}, {}, Work::raw)});
  for (std::uint32_t k = 0; k < 60'000; ++k) {
    Loop loop;
    loop.id = k;
    loop.trips = 1;
    loops.program.body.push_back({1, loop});
  }
  for (std::uint32_t a = 0; a < kMaxAtoms; ++a) loops.loop_atom(a);
  EXPECT_LT(cpu_seconds_to_run(loops.program), 20);

  Made allocs;
  const auto y = allocs.param({1, 8}), result = allocs.output({1, 8});
  for (int k = 0; k < 16'000; ++k) allocs.tile(BufferKind::sbuf, {1, 8});
  for (int k = 0; k < 60'000; ++k) {
    allocs.program.body.push_back(
        {1, map(Instr::dma_copy, {1, 8}, whole(result, 2), {from(whole(y, 2))}, {}, Work::raw)});
  }
  EXPECT_LT(cpu_seconds_to_run(allocs.program), 20);
}

}  // namespace
}  // namespace nkigrid::nkisim
