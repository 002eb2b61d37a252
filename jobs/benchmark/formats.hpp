#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "jobs/benchmark.hpp"

/// How benchmarks lie on the disk. A run needs none of this: what it froze is in our own format.
namespace nkigrid::jobs {

/// A format is one file with a reader: whatever lies in the folder becomes tasks with all their fields, `index_entry`
/// in our own form among them, so that a run and `bench check` need know of our own form alone.
struct BenchmarkFormat {
  std::string_view name;                  ///< benchmark.format of a grid
  std::vector<std::string_view> markers;  ///< files or folders of which each benchmark of this format has one
  /// Fills in name, tasks (sorted by id, each finished by finish_task()) and subsets.
  /// @param place its folder absolute. @param poser empty where nothing can pose
  /// @throws Error{config} naming file, key and what is wrong; Error{io} when a file is missing
  Benchmark (*read)(const BenchmarkPlace& place, const TaskPoser& poser);
};

// One file a format.
BenchmarkFormat nkigrid_format();
BenchmarkFormat kernelbench_format();
BenchmarkFormat nkibench_format();

/// The table. The first is the default.
inline std::vector<BenchmarkFormat> benchmark_formats() {
  return {nkigrid_format(), kernelbench_format(), nkibench_format()};
}

/// Derives a task's level and hash, for a reader that has filled in the rest.
void finish_task(Task& task);

// For the formats that have no index.

/// A benchmark of tasks of which only the texts are known: each is posed, or refused. Tasks are sorted; there are no
/// subsets yet.
/// @throws Error{config} when there is no task or no poser; what the poser throws
Benchmark pose_benchmark(std::string name, std::vector<UnposedTask> tasks, const BenchmarkPlace& place,
                         const TaskPoser& poser);

/// Makes a subset of all tasks, so that a grid can name them in a word.
void add_whole_subset(const std::string& name, Benchmark& benchmark);

/// The names of the *.py files of a folder, sorted; none when there is no such folder.
std::vector<std::filesystem::path> python_files(const std::filesystem::path& folder);

/// Reads a task file of a folder that may be a stranger's. @throws Error{io}
std::string task_source(const std::filesystem::path& folder, const std::filesystem::path& name);

}  // namespace nkigrid::jobs
