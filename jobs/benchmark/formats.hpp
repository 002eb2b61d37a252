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
  std::string_view name;    ///< benchmark.format of a grid
  std::string_view marker;  ///< a file or folder that every benchmark of this format has and no other
  /// Fills in name, tasks (sorted by id, each finished by finish_task()) and subsets.
  /// @param folder absolute
  /// @throws Error{config} naming file, key and what is wrong; Error{io} when a file is missing
  Benchmark (*read)(const std::filesystem::path& folder);
};

// One file a format.
BenchmarkFormat nkigrid_format();

/// The table. The first is the default.
inline std::vector<BenchmarkFormat> benchmark_formats() { return {nkigrid_format()}; }

/// Derives a task's level and hash, for a reader that has filled in the rest.
void finish_task(Task& task);

}  // namespace nkigrid::jobs
