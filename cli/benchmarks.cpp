#include "cli/benchmarks.hpp"

#include <filesystem>
#include <vector>

#include <fmt/core.h>

#include "cli/grids.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"
#include "jobs/grid/grid.hpp"

namespace nkigrid::cli {

jobs::Benchmark open_benchmark(const std::string& name) {
  const std::vector<std::filesystem::path> folders = {name, jobs::configs_folder() / name,
                                                      std::filesystem::path(name) / "inputs" / "benchmark"};
  if (const auto place = jobs::find_benchmark(folders)) return jobs::load_benchmark(*place, task_poser());
  throw Error(ErrorCode::config,
              fmt::format("no benchmark '{}' (looked for {} there and in {}); name its folder with --benchmark", name,
                          jobs::benchmark_markers(), jobs::configs_folder().native()));
}

const jobs::Task& task_of(const jobs::Benchmark& benchmark, const std::string& id) {
  if (const auto* task = benchmark.find(id)) return *task;
  std::vector<std::string> ids;
  for (const auto& task : benchmark.tasks) ids.push_back(task.id);
  throw Error(ErrorCode::usage, fmt::format("no task '{}' in benchmark {}{}; `bench list` names them", id,
                                            benchmark.name, did_you_mean(id, ids)));
}

}  // namespace nkigrid::cli
