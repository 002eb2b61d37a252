#include "jobs/grid/tasks.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"
#include "jobs/grid/units.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;
namespace {

std::vector<std::string> subset_names(const Benchmark& benchmark) {
  std::vector<std::string> names;
  for (const auto& [name, ids] : benchmark.subsets) names.push_back(name);
  return names;
}

std::vector<std::string> task_ids(const Benchmark& benchmark) {
  std::vector<std::string> ids;
  for (const auto& task : benchmark.tasks) ids.push_back(task.id);
  return ids;
}

/// Adds the tasks that one word of a list stands for: an id, or a glob over ids. @returns whether there are
/// any
bool add_matching(const std::string& word, const Benchmark& benchmark, std::set<std::string>& ids) {
  if (word.find_first_of("*?[") == std::string::npos) {
    if (benchmark.find(word) == nullptr) return false;
    ids.insert(word);
    return true;
  }
  bool any = false;
  for (const auto& task : benchmark.tasks) {
    if (::fnmatch(word.c_str(), task.id.c_str(), 0) == 0) {
      ids.insert(task.id);
      any = true;
    }
  }
  return any;
}

void read_most_bytes(Fields& fields, BenchmarkPlace& place) {
  const auto* node = fields.find("max_task_bytes");
  if (node == nullptr) return;
  const auto bytes = parse_size_bytes(node->text);
  if (bytes && *bytes > 0)
    place.max_task_bytes = *bytes;
  else
    fields.problems().add(
        node->place, fmt::format("benchmark.max_task_bytes is {} (a size is wanted, e.g. 256 MiB)", describe(*node)));
}

/// Why a task that a grid names is not there, where the benchmark refused it.
std::string refusal_of(const std::string& id, const Benchmark& benchmark) {
  for (const auto& refused : benchmark.refused) {
    if (refused.id == id) return fmt::format(" (it cannot be posed: {})", refused.why);
  }
  return did_you_mean(id, task_ids(benchmark));
}

}  // namespace

std::optional<Benchmark> read_benchmark(const YamlNode& node, const Folders& all, const TaskPoser& poser,
                                        Problems& problems) {
  std::optional<std::string> path;
  BenchmarkPlace place;
  Place place_of_path = node.place;
  if (node.kind == YamlNode::Kind::map) {
    Fields fields(node, "benchmark", problems);
    const auto* named = fields.require("path");
    if (named != nullptr) path = read_text(*named, "benchmark.path", problems), place_of_path = named->place;
    place.format = fields.choice("format", place.format, benchmark_format_names());
    read_most_bytes(fields, place);
    fields.finish();
  } else {
    path = read_text(node, "benchmark", problems);
  }
  if (!path) return std::nullopt;
  const auto folders = all.of(place_of_path);
  const auto folder = folders.find(*path);
  if (!folder || !fs::is_directory(*folder)) {
    problems.add(node.place, fmt::format("no benchmark '{}'{}{}", *path, folders.near(*path), folders.looked_in()));
    return std::nullopt;
  }
  place.folder = *folder;
  try {
    return load_benchmark(place, poser);
  } catch (const Error& error) {
    problems.add(node.place, error.what());
    return std::nullopt;
  }
}

std::optional<TaskChoice> read_tasks(const YamlNode& node, std::string_view path, const Benchmark& benchmark,
                                     Problems& problems) {
  const auto before = problems.size();
  TaskChoice choice;
  if (node.kind == YamlNode::Kind::scalar) {
    const auto at = benchmark.subsets.find(node.text);
    if (at == benchmark.subsets.end()) {
      problems.add(node.place,
                   fmt::format("no subset '{}' in benchmark {}{}; ids and globs are written as a list, e.g. [L1/*]",
                               node.text, benchmark.name, did_you_mean(node.text, subset_names(benchmark))));
      return std::nullopt;
    }
    choice.subset = node.text;
    choice.ids = at->second;
    std::sort(choice.ids.begin(), choice.ids.end());
    return choice;
  }
  std::set<std::string> ids;
  std::map<std::string, Place> named;
  for (const auto& word : read_texts(node, path, problems)) {
    if (const auto [first, is_new] = named.emplace(word.text, word.place); !is_new) {
      problems.add(word.place, fmt::format("{} names '{}' twice (first at line {}); keep one: `replicates` runs a task "
                                           "several times",
                                           path, word.text, first->second.line));
      continue;
    }
    if (add_matching(word.text, benchmark, ids)) continue;
    const bool is_glob = word.text.find_first_of("*?[") != std::string::npos;
    problems.add(word.place, fmt::format("{} '{}' in benchmark {}{}", is_glob ? "no task matches" : "no task",
                                         word.text, benchmark.name, is_glob ? "" : refusal_of(word.text, benchmark)));
  }
  if (problems.size() != before) return std::nullopt;
  choice.ids.assign(ids.begin(), ids.end());
  return choice;
}

}  // namespace nkigrid::jobs
