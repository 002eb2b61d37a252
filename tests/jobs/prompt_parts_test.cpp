#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.hpp"
#include "jobs/base/error.hpp"
#include "jobs/make_plan.hpp"
#include "jobs/run_directory.hpp"

namespace nkigrid::jobs {
namespace {

using testing::HasSubstr;

Task task_of_rank(std::size_t rank) {
  Task task;
  task.inputs = {{"x", std::vector<std::int64_t>(rank, 4), "float32", "input"}, {"w", {4}, "float32", "parameter"}};
  return task;
}

/// A sandbox whose prompt `careful` is a folder.
struct PromptParts : testing::Test {
  Sandbox box;
  PromptParts() {
    box.write("parts/1-head.md", "head\n");
    box.write("parts/2-block.md", "any\n");
    box.write("parts/2-block.rank-2.md", "two\n");
    box.write("parts/2-block.rank-3.md", "three\n");
    box.write("parts/3-only.rank-4.md", "four\n");
    box.write("parts/4-tail.md", "tail\n");
    box.edit("grid.yaml", "careful: prompts/careful.md", "careful: parts");
  }
  std::string problems() const { return to_text(read_grid(box.grid(), {}).problems); }
};

TEST_F(PromptParts, ATaskGetsTheBlockOfItsRankElseTheOneWithout) {
  const auto grid = load_grid(box.grid(), {});
  const auto text = [&](std::size_t rank) { return text_for(grid.prompt("careful"), task_of_rank(rank)); };
  EXPECT_EQ(text(2), "head\ntwo\ntail\n");
  EXPECT_EQ(text(3), "head\nthree\ntail\n");
  EXPECT_EQ(text(4), "head\nany\nfour\ntail\n");
  EXPECT_EQ(text(1), "head\nany\ntail\n");
  EXPECT_EQ(text_for(grid.prompt("plain"), task_of_rank(2)), "Write an NKI kernel.\n") << "a file is said to all";
}

TEST_F(PromptParts, AreFrozenIntoTheRunAndPartOfKeys) {
  const auto grid = load_grid(box.grid(), {});
  const auto run = freeze_run(grid, load_benchmark(grid.benchmark), box.path() / "RUN");
  std::filesystem::remove_all(box.path() / "parts");
  const auto again = load_run(box.path() / "RUN");
  EXPECT_EQ(again.grid_hash, run.grid_hash);
  EXPECT_EQ(text_for(again.grid.prompt("careful"), task_of_rank(3)), "head\nthree\ntail\n");
  const Sandbox other;
  other.write("parts/1-head.md", "head\nany\ntwo\nthree\nfour\ntail\n");
  other.edit("grid.yaml", "careful: prompts/careful.md", "careful: parts");
  const auto joined = load_grid(other.grid(), {});
  EXPECT_EQ(joined.prompt("careful").text, grid.prompt("careful").text);
  EXPECT_NE(make_plan(joined, load_benchmark(joined.benchmark)).key(0, 0), run.plan.key(0, 0));
  box.write("RUN/inputs/prompts/careful/4-tail.md", "x");
  EXPECT_THROW(load_run(box.path() / "RUN"), Error);
}

TEST_F(PromptParts, WhatIsNoPartIsRefused) {
  EXPECT_EQ(problems(), "");
  for (const auto* name : {"notes.txt", "deep/5.md", ".md.txt", "5.rank-x.md", "5.rank-0.md", "5.rank-.md"}) {
    box.write(std::filesystem::path("parts") / name, "x");
    if (name[0] == '.')
      EXPECT_EQ(problems(), "") << "hidden";
    else
      EXPECT_THAT(problems(), HasSubstr("is no part of a prompt (NAME.md or NAME.rank-N.md is wanted)")) << name;
    std::filesystem::remove(box.path() / "parts" / name);
  }
  std::filesystem::create_symlink("1-head.md", box.path() / "parts/6.md");
  EXPECT_THAT(problems(), HasSubstr("symbolic link"));
}

}  // namespace
}  // namespace nkigrid::jobs
