#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/benchmark.hpp"
#include "jobs/benchmark/nkigrid_index.hpp"
#include "jobs/grid/grid.hpp"
#include "tests/jobs/fixture.hpp"

namespace nkigrid::jobs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Stands in for torch: a task says its own rows in its text ("rows 5"), one that says "odd" cannot be posed.
std::vector<PosedTask> pose_by_text(const PoseRequest& request) {
  std::vector<PosedTask> answers;
  for (const auto& task : request.tasks) {
    PosedTask posed{.id = task.id, .refused = "", .entry = "", .about = "{}", .source = task.source};
    const auto at = task.source.find("rows ");
    const auto rows = at == std::string::npos ? "1" : task.source.substr(at + 5, 1);
    posed.entry = fmt::format(
        R"({{"id": "{}", "category": "{}", "constants": [], "outputs": [{{"shape": [{}], "dtype": "float32"}}],)"
        R"( "inputs": [{{"name": "x", "shape": [{}], "dtype": "float32", "role": "input"}}]}})",
        task.id, task.category, rows, rows);
    if (task.source.find("odd") != std::string::npos) posed.refused = "it is odd";
    answers.push_back(std::move(posed));
  }
  return answers;
}

std::vector<std::string> ids_of(const Benchmark& benchmark) {
  std::vector<std::string> ids;
  for (const auto& task : benchmark.tasks) ids.push_back(task.id);
  return ids;
}

std::string fault_of(const BenchmarkPlace& place, const TaskPoser& poser) {
  try {
    load_benchmark(place, poser);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(KernelBench, FilesBecomeIdsThatSortAsNumbersDo) {
  const Sandbox box;
  box.write("tree/KernelBench/level1/2_Softmax.py", "rows 3");
  box.write("tree/KernelBench/level1/10_conv__2D___padded_.py", "rows 4");
  box.write("tree/KernelBench/level1/notes.txt", "");
  box.write("tree/KernelBench/level4/1_EleutherAI-gpt-neo-2p7B_bs32_seq256.py", "odd");
  box.write("tree/KernelBench/level3/75_" + std::string(90, 'a') + ".py", "rows 2");
  const auto benchmark = load_benchmark({box.path() / "tree", "kernelbench"}, pose_by_text);
  EXPECT_THAT(ids_of(benchmark),
              ElementsAre("L1/002_Softmax", "L1/010_conv_2D_padded", "L3/075_" + std::string(56, 'a')));
  EXPECT_EQ(benchmark.find("L1/002_Softmax")->inputs[0].shape, (std::vector<std::int64_t>{3}));
  ASSERT_EQ(benchmark.refused.size(), 1U);
  EXPECT_EQ(benchmark.refused[0].id, "L4/001_EleutherAI-gpt-neo-2p7B_bs32_seq256");
  EXPECT_EQ(benchmark.refused[0].why, "it is odd");
  EXPECT_EQ(benchmark.subsets.at("kernelbench").size(), 3U);
}

TEST(KernelBench, IsFoundByItsFolders) {
  const Sandbox box;
  box.write("tree/level2/1_a.py", "");
  const std::vector<std::filesystem::path> folders = {box.path() / "tree"};
  EXPECT_EQ(find_benchmark(folders)->format, "kernelbench");
}

TEST(KernelBench, NeedsSomebodyWhoCanPose) {
  const Sandbox box;
  box.write("tree/level1/1_a.py", "");
  EXPECT_THAT(fault_of({box.path() / "tree", "kernelbench"}, {}), HasSubstr("nothing here can make one"));
  EXPECT_THAT(fault_of({box.path(), "kernelbench"}, pose_by_text), HasSubstr("no task file in"));
}

TEST(KernelBench, AGridKeepsFormatAndLimit) {
  const Sandbox box;
  box.write("tree/level1/1_a.py", "rows 2");
  box.edit("grid.yaml", "benchmark: bench", "benchmark: {path: tree, format: kernelbench, max_task_bytes: 3 MiB}");
  box.edit("grid.yaml", "tasks: all-four", "tasks: kernelbench");
  const auto result = read_grid(box.grid(), {}, {.poser = [&](const PoseRequest& request) {
                                  EXPECT_EQ(request.max_task_bytes, 3U << 20);
                                  EXPECT_FALSE(request.shrink);
                                  return pose_by_text(request);
                                }});
  ASSERT_TRUE(result.grid) << to_text(result.problems);
  EXPECT_THAT(to_yaml(*result.grid), HasSubstr("format: kernelbench, max_task_bytes: \"3145728 B\""));
}

TEST(OwnFolder, ItsIndexIsMadeOnceAndAgainWhenATaskChanges) {
  const Sandbox box;
  const BenchmarkPlace place{box.path() / "mine"};
  box.write("mine/tasks/L1/one.py", "rows 3");
  int posed = 0;
  const auto counting = [&](const PoseRequest& request) {
    ++posed;
    return pose_by_text(request);
  };
  EXPECT_THAT(ids_of(load_benchmark(place, counting)), ElementsAre("L1/one"));
  EXPECT_THAT(ids_of(load_benchmark(place, {})), ElementsAre("L1/one"));  // from the index
  EXPECT_EQ(posed, 1);
  box.write("mine/tasks/L1/one.py", "rows 4");
  box.write("mine/tasks/L2/two.py", "rows 5");
  const auto changed = load_benchmark(place, counting);
  EXPECT_EQ(changed.find("L1/one")->inputs[0].shape[0], 4);
  EXPECT_EQ(changed.subsets.at("all").size(), 2U);
  EXPECT_EQ(posed, 2);
}

TEST(OwnFolder, SubsetsOfAnIndexOutliveItsMakingAgain) {
  const Sandbox box;
  const BenchmarkPlace place{box.path() / "mine"};
  for (const auto* name : {"one", "two"}) box.write(fmt::format("mine/tasks/L1/{}.py", name), "rows 3");
  auto benchmark = load_benchmark(place, pose_by_text);
  benchmark.subsets["pair"] = {"L1/one", "L1/two"};
  write_index(benchmark, place.folder, Sources::told);
  std::filesystem::remove(place.folder / "tasks/L1/two.py");
  const auto again = load_benchmark(place, pose_by_text);
  EXPECT_THAT(again.subsets.at("pair"), ElementsAre("L1/one"));
}

TEST(OwnFolder, AnIndexThatDoesNotSayWhatItWasMadeFromIsLeftAlone) {
  const Sandbox box;
  box.write("bench/tasks/L1/another.py", "rows 3");
  EXPECT_EQ(load_benchmark({box.path() / "bench"}, pose_by_text).find("L1/another"), nullptr);
}

TEST(OwnFolder, EveryTaskMustBePosed) {
  const Sandbox box;
  box.write("mine/tasks/L1/one.py", "odd");
  EXPECT_THAT(fault_of({box.path() / "mine"}, pose_by_text), HasSubstr("tasks/L1/one.py: it is odd"));
  box.write("mine/tasks/L1/a b.py", "");
  EXPECT_THAT(fault_of({box.path() / "mine"}, pose_by_text), HasSubstr("'L1/a b' is no name for a task"));
}

TEST(OwnFolder, WhatWasMadeOfATaskAndIsNoEntryRefusesIt) {
  const Sandbox box;
  box.write("tree/level1/1_a.py", "rows 0");
  const auto benchmark = load_benchmark({box.path() / "tree", "kernelbench"}, pose_by_text);
  ASSERT_EQ(benchmark.refused.size(), 1U);
  EXPECT_THAT(benchmark.refused[0].why, HasSubstr("holds 0 (a size of at least 1 is wanted)"));
}

}  // namespace
}  // namespace nkigrid::jobs
