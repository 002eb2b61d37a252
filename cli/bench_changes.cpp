#include "cli/bench_changes.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/first_line.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/json_depth.hpp"
#include "runner/proc/child.hpp"
#include "runner/proc/spawn.hpp"

namespace nkigrid::cli {
namespace {

constexpr Seconds kGitTimeout{60};

/// Runs git in the benchmark's folder.
auto run_git(const jobs::Benchmark& benchmark, const std::vector<std::string>& words) {
  std::vector<std::string> argv = {"/usr/bin/env", "git", "-C", benchmark.place.folder.native()};
  argv.insert(argv.end(), words.begin(), words.end());
  return proc::run_command(argv, kGitTimeout, {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"}, std::size_t{64} << 20);
}

/// What git says in the benchmark's folder. @throws Error{usage} with git's own word when it fails
std::string git(const jobs::Benchmark& benchmark, const std::vector<std::string>& words) {
  const auto result = run_git(benchmark, words);
  if (!proc::is_success(result.end))
    throw Error(ErrorCode::usage,
                fmt::format("git cannot say what changed in '{}' ({}); --since needs a git repository that holds the "
                            "benchmark",
                            benchmark.place.folder.native(), first_line(result.err)));
  return result.out;
}

/// @throws Error{usage} where the benchmark lies in no repository, or that has no such commit
void demand_commit(const std::string& revision, const jobs::Benchmark& benchmark) {
  const auto top = git(benchmark, {"rev-parse", "--show-toplevel"});
  const auto found =
      run_git(benchmark, {"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"});
  if (!proc::is_success(found.end))
    throw Error(ErrorCode::usage, fmt::format("--since is '{}' (no commit of the repository '{}'); name a commit, a "
                                              "branch or a tag, e.g. HEAD~1",
                                              revision, first_line(top)));
}

/// {task id: its entry} of the index as it was; empty when there was none.
std::map<std::string, std::string> entries_at(const std::string& revision, const jobs::Benchmark& benchmark) {
  std::map<std::string, std::string> entries;
  if (git(benchmark, {"ls-tree", revision, "--", "index.json"}).empty()) return entries;
  const auto text = git(benchmark, {"show", revision + ":./index.json"});
  const auto index = nlohmann::json::parse(shallow_part(text), nullptr, false);
  if (!index.is_object() || !index.contains("tasks") || !index["tasks"].is_array()) return entries;
  for (const auto& entry : index["tasks"]) {
    if (entry.is_object() && entry.contains("id") && entry["id"].is_string())
      entries[entry["id"].get<std::string>()] = entry.dump();
  }
  return entries;
}

/// Paths below the folder that differ from the revision or are new.
std::set<std::string> changed_files(const std::string& revision, const jobs::Benchmark& benchmark) {
  std::set<std::string> files;
  const auto told = git(benchmark, {"diff", "--name-only", "-z", "--relative", revision, "--", "."}) +
                    git(benchmark, {"ls-files", "-z", "--others", "--exclude-standard"});
  std::istringstream names(told);
  for (std::string name; std::getline(names, name, '\0');) files.insert(name);
  return files;
}

}  // namespace

std::vector<const jobs::Task*> changed_since(const std::string& revision, const jobs::Benchmark& benchmark,
                                             const std::vector<const jobs::Task*>& tasks) {
  demand_commit(revision, benchmark);
  const auto files = changed_files(revision, benchmark);
  const auto entries = entries_at(revision, benchmark);
  std::vector<const jobs::Task*> changed;
  for (const auto* task : tasks) {
    const auto at = entries.find(task->id);
    const bool same_entry = at != entries.end() && at->second == task->index_entry;
    if (!same_entry || files.count(fmt::format("tasks/{}.py", task->id)) != 0 ||
        files.count(fmt::format("kernels/{}.py", task->id)) != 0)
      changed.push_back(task);
  }
  return changed;
}

}  // namespace nkigrid::cli
