#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fmt/core.h>

#include "fixture.hpp"
#include "jobs/dealing.hpp"
#include "jobs/run_directory.hpp"

namespace nkigrid::jobs {
namespace {

/// 250 tasks x 40 cells x 10 replicates = 10^5 episodes.
void write_large_grid(const Sandbox& box) {
  std::string index = R"({"format": "nkigrid-benchmark", "version": 1, "name": "large", "subsets": {}, "tasks": [)";
  const auto source = box.read("bench/tasks/L1/001_add.py");
  for (int i = 0; i < 250; ++i) {
    const auto id = fmt::format("L{}/{:03}_task_of_some_length", 1 + i % 3, i);
    index +=
        fmt::format(R"({}{{"id": "{}", "category": "c", "inputs": [{{"name": "x", "shape": [8], "dtype": "float32", )"
                    R"("role": "input"}}], )"
                    R"("outputs": [{{"shape": [8], "dtype": "float32"}}]}})",
                    i == 0 ? "" : ",", id);
    box.write("bench/tasks/" + id + ".py", source);
    box.write("bench/kernels/" + id + ".py", source);
  }
  box.write("bench/index.json", index + "]}");
  std::string models, names;
  for (int i = 0; i < 20; ++i) {
    models += fmt::format("  m{}: {{api: synthetic, profile: weak}}\n", i);
    names += fmt::format("{}m{}", i == 0 ? "" : ", ", i);
  }
  box.write("grid.yaml",
            fmt::format("name: large\nbenchmark: bench\ntasks: [\"*\"]\nreplicates: 10\nmodels:\n{}modes:\n  "
                        "ss: {{kind: single-shot}}\n"
                        "  agent: {{kind: tool-agent}}\nprompts: {{careful: prompts/careful.md}}\ncells:\n"
                        "  - {{model: [{}], mode: [ss, agent], prompt: careful}}\nslurm: {{shards: 64}}\n",
                        models, names));
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST(Scale, AHundredThousandEpisodesFreezeAndLoadWithinTwoSecondsAnd300MiB) {
  const Sandbox box;
  write_large_grid(box);
  const double start = cpu_seconds();  // not the wall: other tests may run beside this one
  const auto grid = load_grid(box.grid(), {});
  const auto run = freeze_run(grid, load_benchmark(grid.benchmark), box.path() / "RUN");
  const auto order = dealing_order(run.plan, expected_seconds(run.grid, run.plan, {}), std::nullopt);
  const double took = cpu_seconds() - start;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_EQ(order.size(), 100'000U);
  EXPECT_LT(took, 2.0);
  EXPECT_LT(usage.ru_maxrss / 1024, 300);
}

}  // namespace
}  // namespace nkigrid::jobs
