#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.hpp"
#include "jobs/base/draws.hpp"
#include "jobs/base/error.hpp"

namespace nkigrid::jobs {
namespace {

/// Reads a damaged grid: it is a grid still, or it has problems with places inside the file. @returns whether
/// it is one
bool survives(const Sandbox& box, const std::string& text) {
  box.write("damaged.yaml", text);
  const auto result = read_grid(box.path() / "damaged.yaml", {});
  EXPECT_NE(result.grid.has_value(), !result.problems.empty()) << text;
  const auto lines = static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  for (const auto& problem : result.problems)
    EXPECT_LE(problem.line, lines) << problem.message << "\n" << text;
  return result.grid.has_value();
}

TEST(DamagedGrid, CutAtEveryLength) {
  const Sandbox box;
  const auto text = box.read("grid.yaml");
  for (std::size_t size = 0; size < text.find("slurm:"); ++size)
    EXPECT_FALSE(survives(box, text.substr(0, size)) && size < text.find("cells:"));
}

TEST(DamagedGrid, RandomBytesNeverCrashAReader) {
  const Sandbox box;
  const auto text = box.read("grid.yaml");
  Draws draws(1);
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    auto damaged = text;
    for (std::uint64_t hits = 1 + draws.below(3); hits > 0; --hits) {
      const char byte = "{}[]:,-&*!|>'\"%@`#?\n\t \0a0\x80\xff"[draws.below(27)];
      damaged[draws.below(damaged.size())] = byte;
    }
    refused += !survives(box, damaged);
  }
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace nkigrid::jobs
