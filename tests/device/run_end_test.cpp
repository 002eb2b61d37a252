#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "jobs/base/files.hpp"
#include "tests/device/small_task.hpp"

namespace nkigrid::device {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string kernel_of(const std::string& body) {
  return "import neuronxcc.nki as nki\nimport neuronxcc.nki.isa as nisa\nimport neuronxcc.nki.language as "
         "nl\n\n\n@nki.jit\ndef kernel(x, weight):\n"
         "    out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)\n" +
         body + "    return out\n";
}

/// Copies 268 MB of HBM onto itself one row further: the copy is held aside whole, beside the 271 MB it comes from.
std::string copies_onto_itself() {
  return kernel_of(
      "    far = nl.ndarray((129, 524288), dtype=nl.float32, buffer=nl.private_hbm)\n"
      "    nisa.dma_copy(dst=far[1:129, :], src=far[0:128, :])\n"
      "    nl.store(out, nl.load(far[1:129, 0:64]))\n");
}

/// 4e10 additions in a short program: minutes on any machine, within what a program may do.
std::string adds_for_minutes() {
  return kernel_of(
      "    t, w = nl.load(x), nl.load(weight)\n"
      "    for i in nl.sequential_range(5000000):\n"
      "        t[...] = nl.add(t, w)\n"
      "    nl.store(out, t)\n");
}

/// Our helper programs, the run server with an address space of `mebibytes` for a run.
struct SmallRuns {
  std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / fmt::format("nkigrid-small-runs-{}", ::getpid());
  DevicePaths paths = test_paths();
  explicit SmallRuns(int mebibytes) {
    std::filesystem::create_directories(folder);
    for (const auto& helper : std::filesystem::directory_iterator(paths.libexec))
      std::filesystem::create_symlink(helper.path(), folder / helper.path().filename());
    const auto script = folder / "nkigrid_run_server";
    std::filesystem::remove(script);
    write_file_atomic(script, fmt::format("#!/bin/sh\nexec {}/nkigrid_run_server \"$1\" {}\n", paths.libexec.string(),
                                          std::uint64_t(mebibytes) << 20));
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    paths.libexec = folder;
  }
  ~SmallRuns() { std::filesystem::remove_all(folder); }
};

void expect_run_fail(const VerifyResult& result) {
  EXPECT_FALSE(result.paper_ok);
  EXPECT_EQ(result.diagnostic.code, Code::runtime_device) << result.diagnostic.message;
  EXPECT_EQ(outcome_of(result.diagnostic.code, result.diagnostic.stage), Outcome::run_fail);
}

void expect_still_checks(TestDevice& test) {
  const auto good = test.compile(data_file("good.py"));
  ASSERT_TRUE(good.ok()) << good.diagnostic.message;
  EXPECT_TRUE(test.device->verify(small_task(), *good.artifact, Stream::tool, 1).paper_ok);
}

TEST(RunEnd, MemoryThatRunsOutTwiceWhileTheCanaryPassesIsTheKernelsRunFail) {
  const SmallRuns small(500);
  TestDevice test({}, small.paths);
  const auto compiled = test.compile(copies_onto_itself());
  ASSERT_TRUE(compiled.ok()) << compiled.diagnostic.message;
  const auto result = test.device->verify(small_task(), *compiled.artifact, Stream::tool, 1);
  expect_run_fail(result);
  EXPECT_THAT(result.diagnostic.message,
              AllOf(HasSubstr("the kernel's run ended twice"), HasSubstr("out of memory (a run has 500 MiB)")));
  expect_still_checks(test);
}

TEST(RunEnd, KernelThatOutlastsTheRunTimeoutIsItsRunFail) {
  jobs::CheckSpec check;
  check.run_timeout = Seconds(2);
  TestDevice test(check);
  const auto compiled = test.compile(adds_for_minutes());
  ASSERT_TRUE(compiled.ok()) << compiled.diagnostic.message;
  const auto result = test.device->verify(small_task(), *compiled.artifact, Stream::tool, 1);
  expect_run_fail(result);
  EXPECT_THAT(result.diagnostic.message, HasSubstr("did not finish within 2 s"));
  expect_still_checks(test);
}

}  // namespace
}  // namespace nkigrid::device
