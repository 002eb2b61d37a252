#include "cli/bench_import.hpp"

#include <map>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/bench_list.hpp"
#include "cli/grids.hpp"
#include "cli/json_text.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/foreign_files.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/benchmark/nkigrid_index.hpp"

namespace nkigrid::cli {
namespace {

namespace fs = std::filesystem;

jobs::BenchmarkPlace place_of(const Import& wanted) {
  const std::vector<fs::path> folders = {wanted.tree};
  auto place = jobs::find_benchmark(folders);
  if (!place)
    throw Error(ErrorCode::config, fmt::format("no benchmark in '{}' (looked for {}); name the checkout's folder",
                                               wanted.tree, jobs::benchmark_markers()));
  if (!wanted.format.empty()) place->format = wanted.format;
  if (wanted.max_task_bytes > 0) place->max_task_bytes = wanted.max_task_bytes;
  return *place;
}

/// The name says of which kind it is: a shrunk benchmark is another one, whose rates are told apart.
void rename(const Import& wanted, const std::string& format, jobs::Benchmark& benchmark) {
  benchmark.name += wanted.shrink ? "-shrunk" : "";
  if (format == "nkigrid" || benchmark.subsets.empty()) return;
  auto whole = std::move(benchmark.subsets.begin()->second);
  benchmark.subsets = {{benchmark.name, std::move(whole)}};
}

void write_folder(const jobs::Benchmark& benchmark, const jobs::BenchmarkPlace& from, const fs::path& folder) {
  if (has_foreign_file(folder, jobs::kIndexFile))
    throw Error(ErrorCode::usage,
                fmt::format("'{}' holds a benchmark already; name another folder, or remove it", folder.native()));
  auto files = jobs::own_format_files(benchmark, jobs::Sources::told);
  files[jobs::kAboutFile] = jobs::about_text(benchmark);
  jobs::Benchmark source = benchmark;
  source.place = from;
  for (const auto& task : benchmark.tasks) {
    if (auto kernel = source.known_kernel(task.id); !kernel.empty())
      files[fmt::format("kernels/{}.py", task.id)] = std::move(kernel);
  }
  for (const auto& [name, bytes] : files) {
    make_directories((folder / name).parent_path());
    write_file_atomic(folder / name, bytes);
  }
}

struct LevelCounts {
  std::size_t posed = 0, degenerate = 0, refused = 0;
};

/// The answers without work that pass on a task's own draws, as task_pose.py tags them: such a task tells nothing of a
/// kernel, and its author should know. Where the reference was too dear to run nothing is known.
std::vector<std::string> passing_of(const jobs::Benchmark& benchmark, const std::string& id) {
  constexpr std::string_view kPasses = "passes-";
  std::vector<std::string> found;
  const auto about = benchmark.about.find(id);
  if (about == benchmark.about.end()) return found;
  for (const auto& tag : about->second.tags) {
    if (tag.starts_with(kPasses)) found.push_back(tag.substr(kPasses.size()));
  }
  return found;
}

std::map<std::string, LevelCounts> counts_of(const jobs::Benchmark& benchmark) {
  std::map<std::string, LevelCounts> counts;
  for (const auto& task : benchmark.tasks) {
    ++counts[task.level].posed;
    counts[task.level].degenerate += passing_of(benchmark, task.id).empty() ? 0 : 1;
  }
  for (const auto& refused : benchmark.refused) ++counts[refused.id.substr(0, refused.id.find('/'))].refused;
  return counts;
}

void print_json(const jobs::Benchmark& benchmark) {
  nlohmann::ordered_json out = {{"version", 1}, {"benchmark", benchmark.name}};
  for (const auto& [level, count] : counts_of(benchmark))
    out["levels"][level] = {{"posed", count.posed}, {"degenerate", count.degenerate}, {"refused", count.refused}};
  out["degenerate"] = nlohmann::ordered_json::array();
  for (const auto& task : benchmark.tasks) {
    if (const auto passing = passing_of(benchmark, task.id); !passing.empty())
      out["degenerate"].push_back({{"id", task.id}, {"passes", passing}});
  }
  out["refused"] = nlohmann::ordered_json::array();
  for (const auto& refused : benchmark.refused) out["refused"].push_back({{"id", refused.id}, {"why", refused.why}});
  fmt::print("{}", json_text(out));
}

void print_text(const jobs::Benchmark& benchmark) {
  std::vector<std::string> ids;
  for (const auto& task : benchmark.tasks) ids.push_back(task.id);
  const auto width = id_width(ids);
  for (const auto& task : benchmark.tasks) {
    if (const auto passing = passing_of(benchmark, task.id); !passing.empty())
      say("{:<{}}  degenerate: passes with {}\n", task.id, width, fmt::join(passing, ", "));
  }
  print_refused(benchmark.refused);
  for (const auto& [level, count] : counts_of(benchmark))
    say("{}: {} posed ({} degenerate), {} refused\n", level, count.posed, count.degenerate, count.refused);
  say("{}: {} of {} tasks are posed\n", benchmark.name, benchmark.tasks.size(),
      benchmark.tasks.size() + benchmark.refused.size());
}

}  // namespace

ExitCode import_tree(const Import& wanted) {
  const auto place = place_of(wanted);
  const auto poser = [&](jobs::PoseRequest request) {
    request.shrink = wanted.shrink;
    return task_poser()(request);
  };
  if (wanted.shrink && place.format == "nkigrid")
    throw Error(ErrorCode::usage, fmt::format("'{}' has an index, so its sizes are chosen already; --shrink is for a "
                                              "tree that was not written for a simulator",
                                              wanted.tree));
  auto benchmark = jobs::load_benchmark(place, poser);
  rename(wanted, place.format, benchmark);
  write_folder(benchmark, benchmark.place, wanted.out);
  if (wanted.json)
    print_json(benchmark);
  else
    print_text(benchmark);
  return ExitCode::done;
}

}  // namespace nkigrid::cli
