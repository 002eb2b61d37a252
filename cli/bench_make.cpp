#include "cli/bench_make.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/core.h>

#include "cli/bench_check.hpp"
#include "cli/bench_report.hpp"
#include "cli/grids.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/foreign_files.hpp"
#include "jobs/base/ids.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/benchmark/formats.hpp"
#include "jobs/benchmark/nkigrid_index.hpp"
#include "jobs/grid/grid.hpp"

namespace nkigrid::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFirstTask = "L1/001_add";  ///< of nkigen-bench: what a new task starts as, its kernel too
constexpr std::string_view kNotes = R"python(# Each input that is not just any real number needs a line like these:
#   nkigrid: domain x=positive            (or unit: -1..1, probability: 0..1)
#   nkigrid: domain target=index 1000     (whole numbers below 1000)
)python";

/// The first task's text, with what a comment may say told under its first line, which is one.
std::string task_to_start_from(const fs::path& benchmark) {
  auto text = read_file(benchmark / fmt::format("tasks/{}.py", kFirstTask));
  return text.insert(text.find('\n') + 1, kNotes);
}

void demand_id(const std::string& id) {
  if (!is_task_id(id))
    throw Error(
        ErrorCode::usage,
        fmt::format("'{}' is no task id (level/name of letters, digits, _ and - is wanted, e.g. L1/my_task)", id));
}

/// ".../L1/gelu.py" -> "L1/gelu"; a file in any other folder is of level 1.
std::string id_of(const AddedTask& wanted) {
  if (!wanted.id.empty()) return wanted.id;
  const fs::path file = fs::absolute(wanted.file).lexically_normal();
  const auto folder = file.parent_path().filename().native();
  const bool is_level =
      folder.size() >= 2 && folder[0] == 'L' && folder.find_first_not_of("0123456789", 1) == folder.npos;
  return (is_level ? folder : "L1") + "/" + file.stem().native();
}

/// The benchmark that a folder holds before a task is added: none is as good as an empty one.
jobs::Benchmark benchmark_before(const fs::path& folder) {
  if (has_foreign_file(folder, jobs::kIndexFile)) return jobs::read_index_file(folder);
  jobs::Benchmark benchmark;
  const auto name = fs::absolute(folder).lexically_normal().filename().native();
  benchmark.name = name.empty() ? "own" : name;
  return benchmark;
}

/// The task alone, posed. @throws Error{config} with the reason when it cannot be
jobs::Benchmark posed_alone(const AddedTask& wanted, const std::string& id) {
  const jobs::PoseRequest request{
      {{id, read_file(wanted.file), "other"}}, jobs::BenchmarkPlace{}.max_task_bytes, false};
  const auto answers = task_poser()(request);
  jobs::Benchmark alone;
  if (answers.at(0).refused.empty()) jobs::add_posed(answers[0], alone);
  const auto why = answers[0].refused.empty() && !alone.refused.empty() ? alone.refused[0].why : answers[0].refused;
  if (alone.tasks.empty())
    throw Error(ErrorCode::config, fmt::format("'{}' cannot be posed to NKI: {}", wanted.file, why));
  return alone;
}

void replace_task(const jobs::Benchmark& alone, jobs::Benchmark& benchmark) {
  const auto& task = alone.tasks.front();
  std::erase_if(benchmark.tasks, [&](const jobs::Task& old) { return old.id == task.id; });
  benchmark.tasks.push_back(task);
  std::sort(benchmark.tasks.begin(), benchmark.tasks.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  benchmark.about[task.id] = alone.about.at(task.id);
  if (benchmark.subsets.empty() || benchmark.subsets.count("all") != 0) {
    benchmark.subsets.erase("all");
    jobs::add_whole_subset("all", benchmark);
  }
}

/// Where the kernel of a task that is added is: named, or in the folder already.
std::string kernel_text(const AddedTask& wanted, const std::string& id) {
  if (!wanted.kernel.empty()) return read_file(wanted.kernel);
  const auto name = fs::path("kernels") / (id + ".py");
  return has_foreign_file(wanted.folder, name) ? read_foreign_file(wanted.folder, name) : std::string();
}

void write_task(const fs::path& folder, const jobs::Benchmark& benchmark, const jobs::Task& task,
                const std::string& kernel) {
  // An index that somebody made by other means does not become one that this program makes.
  const bool told = !has_foreign_file(folder, jobs::kIndexFile) || !jobs::sources_of_index(folder).empty();
  std::map<std::string, std::string> files = {{fmt::format("tasks/{}.py", task.id), task.source}};
  if (!kernel.empty()) files[fmt::format("kernels/{}.py", task.id)] = kernel;
  for (const auto& [name, bytes] : files) {
    make_directories((folder / name).parent_path());
    write_file_atomic(folder / name, bytes);
  }
  jobs::write_index(benchmark, folder, told ? jobs::Sources::told : jobs::Sources::untold);
}

}  // namespace

ExitCode new_task(const NewTask& wanted) {
  demand_id(wanted.id);
  const fs::path folder = wanted.folder;
  const auto from = jobs::configs_folder() / "nkigen-bench";
  const std::map<std::string, std::string> files = {
      {fmt::format("tasks/{}.py", wanted.id), task_to_start_from(from)},
      {fmt::format("kernels/{}.py", wanted.id), read_file(from / fmt::format("kernels/{}.py", kFirstTask))}};
  for (const auto& [name, text] : files) {
    if (has_foreign_file(folder, name))
      throw Error(ErrorCode::usage, fmt::format("'{}' is there already; name another task", (folder / name).native()));
  }
  for (const auto& [name, text] : files) {
    make_directories((folder / name).parent_path());
    write_file_atomic(folder / name, text);
    say("{}\n", (folder / name).native());
  }
  say("change both, then: nkigrid bench add {} --benchmark {}\n", (folder / files.rbegin()->first).native(),
      folder.native());
  return ExitCode::done;
}

ExitCode add_task(const AddedTask& wanted) {
  const auto id = id_of(wanted);
  demand_id(id);
  auto alone = posed_alone(wanted, id);
  const auto kernel = kernel_text(wanted, id);
  const auto proofs = prove_tasks(alone, {&alone.tasks.front()}, [&](const jobs::Task&) { return kernel; });
  if (report_proofs(alone, proofs, false) != ExitCode::done) {
    notice("'{}' is not added", id);
    return ExitCode::incomplete;
  }
  auto benchmark = benchmark_before(wanted.folder);
  replace_task(alone, benchmark);
  write_task(wanted.folder, benchmark, alone.tasks.front(), kernel);
  say("added {} to '{}', which has {} task{} now\n", id, wanted.folder, benchmark.tasks.size(),
      benchmark.tasks.size() == 1 ? "" : "s");
  return ExitCode::done;
}

}  // namespace nkigrid::cli
