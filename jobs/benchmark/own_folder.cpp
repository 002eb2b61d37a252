#include <unistd.h>

#include <algorithm>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/foreign_files.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/ids.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/benchmark/formats.hpp"
#include "jobs/benchmark/nkigrid_index.hpp"

/// A folder of our own format that has tasks and no index, or an index that was made from other tasks: it is made.
namespace nkigrid::jobs {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostNamed = 8;

/// A file that belongs to no level would be missed in silence.
void demand_levels(const fs::path& folder) {
  const auto strays = python_files(folder / "tasks");
  if (strays.empty()) return;
  const auto& file = strays.front().native();
  throw Error(ErrorCode::config, fmt::format("'tasks/{}' of '{}' is in the folder of no level; move it, e.g. to "
                                             "tasks/L1/{}",
                                             file, folder.native(), file));
}

std::vector<UnposedTask> folder_tasks(const fs::path& folder) {
  demand_levels(folder);
  std::vector<UnposedTask> tasks;
  std::vector<fs::path> levels;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder / "tasks", none)) {
    if (entry.is_directory(none)) levels.push_back(entry.path().filename());
  }
  std::sort(levels.begin(), levels.end());
  for (const auto& level : levels) {
    for (const auto& file : python_files(folder / "tasks" / level)) {
      const auto id = level.native() + "/" + file.stem().native();
      if (!is_task_id(id))
        throw Error(ErrorCode::config, fmt::format("'{}' is no name for a task (level/name of letters, digits, _ and - "
                                                   "is wanted); rename 'tasks/{}.py'",
                                                   id, id));
      tasks.push_back({id, task_source(folder, fs::path("tasks") / level / file), "other"});
    }
  }
  return tasks;
}

/// What an index was made from against what lies there.
struct Staleness {
  std::size_t added = 0, changed = 0, gone = 0;
  bool any() const { return added + changed + gone > 0; }
};

Staleness compare(const std::map<std::string, std::string>& made_from, const std::vector<UnposedTask>& tasks) {
  Staleness found;
  std::set<std::string> there;
  for (const auto& task : tasks) {
    there.insert(task.id);
    const auto at = made_from.find(task.id);
    if (at == made_from.end())
      ++found.added;
    else if (at->second != sha256_hex(task.source))
      ++found.changed;
  }
  for (const auto& [id, hash] : made_from) found.gone += there.count(id) == 0 ? 1 : 0;
  return found;
}

/// Every task of one's own must be posed: one that silently was not would be missed.
void demand_all_posed(const Benchmark& benchmark, const fs::path& folder) {
  if (benchmark.refused.empty()) return;
  std::vector<std::string> lines;
  for (const auto& refused : benchmark.refused) {
    if (lines.size() < kMostNamed) lines.push_back(fmt::format("tasks/{}.py: {}", refused.id, refused.why));
  }
  throw Error(ErrorCode::config, fmt::format("{} of the tasks of '{}' cannot be posed; mend or remove them:\n  {}",
                                             benchmark.refused.size(), folder.native(), fmt::join(lines, "\n  ")));
}

/// Where the folder cannot be written the index lives as long as the program does.
void keep_index(const Benchmark& benchmark, const fs::path& folder) {
  if (::access(folder.c_str(), W_OK) != 0) {
    notice("'{}' cannot be written: its index is made again each time", folder.native());
    return;
  }
  write_index(benchmark, folder, Sources::told);
}

Benchmark make_index(const BenchmarkPlace& place, std::vector<UnposedTask> tasks, const TaskPoser& poser,
                     const std::map<std::string, std::vector<std::string>>& subsets) {
  auto name = place.folder.filename().native();
  auto benchmark = pose_benchmark(name.empty() ? "own" : name, std::move(tasks), place, poser);
  demand_all_posed(benchmark, place.folder);
  for (const auto& [subset, ids] : subsets) {
    for (const auto& id : ids) {
      if (benchmark.find(id) != nullptr) benchmark.subsets[subset].push_back(id);
    }
  }
  benchmark.subsets.erase("all");
  add_whole_subset("all", benchmark);
  keep_index(benchmark, place.folder);
  return benchmark;
}

Benchmark read_nkigrid(const BenchmarkPlace& place, const TaskPoser& poser) {
  const auto& folder = place.folder;
  if (!has_foreign_file(folder, kIndexFile)) {
    auto tasks = folder_tasks(folder);
    if (tasks.empty()) return read_index_file(folder);  // says that there is none
    notice("making {} of the {} tasks of '{}'", kIndexFile, tasks.size(), folder.native());
    return make_index(place, std::move(tasks), poser, {});
  }
  const auto made_from = sources_of_index(folder);
  if (made_from.empty()) return read_index_file(folder);
  auto tasks = folder_tasks(folder);
  const auto stale = compare(made_from, tasks);
  if (!stale.any()) return read_index_file(folder);
  notice("{} of '{}' is stale ({} tasks new, {} changed, {} gone): making it again", kIndexFile, folder.native(),
         stale.added, stale.changed, stale.gone);
  return make_index(place, std::move(tasks), poser, subsets_of_index(folder));
}

}  // namespace

BenchmarkFormat nkigrid_format() { return {"nkigrid", {kIndexFile, "tasks"}, read_nkigrid}; }

}  // namespace nkigrid::jobs
