#include "jobs/benchmark/formats.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/foreign_files.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/benchmark/nkigrid_index.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;

void finish_task(Task& task) {
  task.level = task.id.substr(0, task.id.find('/'));
  task.hash = Sha256().field(task.source).field(task.index_entry).hex();
}

Benchmark pose_benchmark(std::string name, std::vector<UnposedTask> tasks, const BenchmarkPlace& place,
                         const TaskPoser& poser) {
  if (!poser)
    throw Error(ErrorCode::config, fmt::format("the tasks of '{}' have no index, and nothing here can make one; "
                                               "`nkigrid bench import` writes a folder that has one",
                                               place.folder.native()));
  if (tasks.empty())
    throw Error(ErrorCode::config, fmt::format("no task file in '{}' (format {}: docs/formats/benchmark.md)",
                                               place.folder.native(), place.format));
  Benchmark benchmark;
  benchmark.name = std::move(name);
  for (const auto& posed : poser({std::move(tasks), place.max_task_bytes, false})) {
    if (posed.refused.empty())
      add_posed(posed, benchmark);
    else
      benchmark.refused.push_back({posed.id, posed.refused});
  }
  const auto by_id = [](const auto& a, const auto& b) { return a.id < b.id; };
  std::sort(benchmark.tasks.begin(), benchmark.tasks.end(), by_id);
  std::sort(benchmark.refused.begin(), benchmark.refused.end(), by_id);
  return benchmark;
}

void add_whole_subset(const std::string& name, Benchmark& benchmark) {
  auto& ids = benchmark.subsets[name];
  for (const auto& task : benchmark.tasks) ids.push_back(task.id);
  if (ids.empty()) benchmark.subsets.erase(name);
}

std::vector<fs::path> python_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (entry.path().extension() == ".py") files.push_back(entry.path().filename());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string task_source(const fs::path& folder, const fs::path& name) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  return read_foreign_file(folder, name, kMostBytes);
}

}  // namespace nkigrid::jobs
