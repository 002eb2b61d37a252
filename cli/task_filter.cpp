#include "cli/task_filter.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cli/usage.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::cli {
namespace {

std::vector<const jobs::Task*> tasks_of_subset(const jobs::Benchmark& benchmark, const std::string& subset) {
  std::vector<const jobs::Task*> tasks;
  if (subset.empty()) {
    for (const auto& task : benchmark.tasks) tasks.push_back(&task);
    return tasks;
  }
  const auto at = benchmark.subsets.find(subset);
  if (at == benchmark.subsets.end()) {
    std::vector<std::string> names;
    for (const auto& [name, ids] : benchmark.subsets) names.push_back(name);
    throw Error(ErrorCode::usage, fmt::format("no subset '{}' in benchmark {}{}; it has {}", subset, benchmark.name,
                                              did_you_mean(subset, names), fmt::join(names, ", ")));
  }
  for (const auto& id : at->second) tasks.push_back(benchmark.find(id));
  return tasks;
}

/// A word that names nothing is a slip, not an empty choice.
void demand_known(const char* what, const std::string& word, const std::set<std::string>& known) {
  if (word.empty() || known.count(word) != 0) return;
  throw Error(ErrorCode::usage, fmt::format("no {} '{}'{}; there are {}", what, word,
                                            did_you_mean(word, std::vector<std::string>(known.begin(), known.end())),
                                            fmt::join(known, ", ")));
}

bool passes(const jobs::Benchmark& benchmark, const jobs::Task& task, const TaskFilter& filter) {
  return (filter.glob.empty() || ::fnmatch(filter.glob.c_str(), task.id.c_str(), 0) == 0) &&
         (filter.level.empty() || task.level == filter.level) &&
         (filter.category.empty() || task.category == filter.category) &&
         (filter.dtype.empty() || has_dtype(task, filter.dtype)) &&
         (filter.tag.empty() || has_tag(benchmark, task, filter.tag)) &&
         (filter.rank == 0 || jobs::rank_of(task) == static_cast<std::size_t>(filter.rank));
}

}  // namespace

void add_filter(CLI::App& app, TaskFilter& filter) {
  app.add_option("--subset", filter.subset, "only this subset")->type_name("S");
  app.add_option("--task", filter.glob, "only tasks whose id matches, e.g. 'L2/*softmax*'")->type_name("GLOB");
  app.add_option("--level", filter.level, "only this level, e.g. L2")->type_name("LEVEL");
  app.add_option("--category", filter.category, "only this category, e.g. attention")->type_name("NAME");
  want_whole(app.add_option("--rank", filter.rank, "only tasks whose first input has so many axes"), 1, 32);
  app.add_option("--dtype", filter.dtype, "only tasks with a tensor of this type, e.g. bfloat16")->type_name("DTYPE");
  app.add_option("--tag", filter.tag, "only tasks with this tag, e.g. ragged, weights, decompose")->type_name("TAG");
}

bool has_dtype(const jobs::Task& task, const std::string& dtype) {
  const auto has = [&](const jobs::TensorSpec& tensor) { return tensor.dtype == dtype; };
  return std::any_of(task.inputs.begin(), task.inputs.end(), has) ||
         std::any_of(task.outputs.begin(), task.outputs.end(), has);
}

bool has_tag(const jobs::Benchmark& benchmark, const jobs::Task& task, const std::string& tag) {
  const auto at = benchmark.about.find(task.id);
  if (at == benchmark.about.end()) return false;
  return std::find(at->second.tags.begin(), at->second.tags.end(), tag) != at->second.tags.end();
}

std::vector<const jobs::Task*> filtered(const jobs::Benchmark& benchmark, const TaskFilter& filter) {
  std::set<std::string> levels, categories, tags;
  for (const auto& task : benchmark.tasks) {
    levels.insert(task.level);
    categories.insert(task.category);
    if (const auto about = benchmark.about.find(task.id); about != benchmark.about.end())
      tags.insert(about->second.tags.begin(), about->second.tags.end());
  }
  demand_known("level", filter.level, levels);
  demand_known("category", filter.category, categories);
  demand_known("tag", filter.tag, tags);
  demand_known("dtype", filter.dtype, {"float32", "bfloat16", "int32", "uint8"});
  auto tasks = tasks_of_subset(benchmark, filter.subset);
  std::erase_if(tasks, [&](const jobs::Task* task) { return !passes(benchmark, *task, filter); });
  if (tasks.empty())
    throw Error(ErrorCode::usage, fmt::format("no task of benchmark {} passes these filters; `bench list --json` shows "
                                              "what each has",
                                              benchmark.name));
  return tasks;
}

}  // namespace nkigrid::cli
