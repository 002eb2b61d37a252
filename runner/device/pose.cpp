#include "runner/device/pose.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/base/text.hpp"
#include "runner/device/shared/private_folder.hpp"
#include "runner/proc/child.hpp"
#include "runner/proc/held_signals.hpp"
#include "runner/proc/sandbox_properties.hpp"
#include "runner/proc/spawn.hpp"

namespace nkigrid::device {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr Seconds kShareTimeout{
    24 * 3600};                     // the helper bounds each task by processor time, which a busy machine gives slowly
constexpr std::size_t kShare = 12;  // tasks a process: importing torch costs as much as posing some ten
constexpr std::size_t kWorthTelling = 40;  // tasks that take long enough for a word
constexpr std::size_t kMostReason = 400;   // bytes of why a task is refused
constexpr std::size_t kMostAnswers = std::size_t{64} << 20;
// What an answer hangs on beside the task; a change of any makes all answers anew.
constexpr std::array<const char*, 9> kScripts = {"task_form.py",  "task_facts.py", "task_work.py",
                                                 "fake_forms.py", "task_pose.py",  "task_shrink.py",
                                                 "pose_tasks.py", "well_posed.py", "reference_task.py"};

std::string scripts_digest(const fs::path& libexec) {
  Sha256 digest;
  for (const auto* script : kScripts) digest.field(read_file(libexec / script));
  return digest.hex();
}

std::string key_of(const jobs::UnposedTask& task, const jobs::PoseRequest& request, const std::string& scripts) {
  return Sha256()
      .field(scripts)
      .field(task.id)
      .field(task.category)
      .field(task.source)
      .field(std::to_string(request.max_task_bytes))
      .field(request.shrink ? "shrink" : "")
      .hex();
}

jobs::PosedTask posed_of(const json& line) {
  jobs::PosedTask posed;
  posed.id = line.at("id").get<std::string>();
  posed.refused = elide_middle(line.value("refused", ""), kMostReason);  // may be a task's own words
  if (!posed.refused.empty()) return posed;
  posed.entry = line.at("entry").dump();
  posed.about = line.at("about").dump();
  posed.source = line.at("source").get<std::string>();
  return posed;
}

/// What the machine lacks may be there tomorrow; what a task is stays.
bool is_kept(const jobs::PosedTask& posed) { return posed.refused.rfind("needs ", 0) != 0; }

/// The answers that were kept on this node.
class PosedFolder {
 public:
  explicit PosedFolder(fs::path folder) : folder_(std::move(folder)) { make_private_folder(folder_); }

  std::optional<jobs::PosedTask> find(const std::string& key) const {
    std::error_code none;
    if (!fs::exists(folder_ / key, none)) return std::nullopt;
    const auto line = json::parse(read_file(folder_ / key), nullptr, false);
    if (!line.is_object() || !line.contains("id")) return std::nullopt;
    return posed_of(line);
  }

  void keep(const std::string& key, const json& line) const { write_file_atomic(folder_ / key, line.dump()); }

 private:
  fs::path folder_;
};

/// One process of the helper over some of the tasks. @returns a line a task
std::vector<json> run_helper(const std::vector<const jobs::UnposedTask*>& tasks, const jobs::PoseRequest& request,
                             const DevicePaths& paths, bool strict) {
  const TemporaryDirectory folder;
  json wanted = {{"max_task_bytes", request.max_task_bytes}, {"shrink", request.shrink}, {"tasks", json::array()}};
  for (const auto* task : tasks)
    wanted["tasks"].push_back({{"id", task->id}, {"source", task->source}, {"category", task->category}});
  const auto file = folder.path() / "request.json";
  write_file_atomic(file, wanted.dump(-1, ' ', false, json::error_handler_t::replace));
  auto environment = proc::numeric_environment();
  environment.emplace_back("LANG=C.UTF-8");
  environment.emplace_back("PYTHONHASHSEED=0");
  const auto result = proc::run_command({NKIGRID_PYTHON, "-s", "-B", paths.libexec / "pose_tasks.py", file.native(),
                                         paths.libexec / "libnkigrid_sandbox.so", strict ? "strict" : "relaxed"},
                                        kShareTimeout, environment, kMostAnswers, folder.path());
  std::vector<json> lines;
  std::istringstream answers(result.out);
  for (std::string line; std::getline(answers, line);) {
    auto parsed = json::parse(line, nullptr, false);
    if (parsed.is_object()) lines.push_back(std::move(parsed));
  }
  if (!proc::is_success(result.end) || lines.size() != tasks.size())
    throw Error(ErrorCode::external, fmt::format("the helper that poses tasks {}: {}", proc::describe(result.end),
                                                 result.err.empty() ? "it said nothing" : result.err));
  return lines;
}

std::vector<jobs::PosedTask> pose(const jobs::PoseRequest& request, const DevicePaths& paths, bool strict,
                                  const std::function<void(const PosedSoFar&)>& watch) {
  proc::require_sandbox(strict ? proc::SandboxLevel::strict : proc::SandboxLevel::relaxed);
  const PosedFolder kept(paths.posed);
  const auto scripts = scripts_digest(paths.libexec);
  std::vector<jobs::PosedTask> answers(request.tasks.size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < request.tasks.size(); ++i) {
    if (auto known = kept.find(key_of(request.tasks[i], request, scripts)))
      answers[i] = std::move(*known);
    else
      open.push_back(i);
  }
  if (open.size() >= kWorthTelling)
    notice("posing {} tasks by running their references; this is done once", open.size());
  std::mutex mutex;
  PosedSoFar so_far{.total = open.size()};
  if (watch) watch(so_far);
  in_shares(open.size(), [&](std::size_t begin, std::size_t end) {
    std::vector<const jobs::UnposedTask*> share;
    for (auto i = begin; i < end; ++i) share.push_back(&request.tasks[open[i]]);
    const auto lines = run_helper(share, request, paths, strict);
    const std::lock_guard lock(mutex);
    for (auto i = begin; i < end; ++i) {
      answers[open[i]] = posed_of(lines[i - begin]);
      if (is_kept(answers[open[i]])) kept.keep(key_of(*share[i - begin], request, scripts), lines[i - begin]);
      so_far.refused += answers[open[i]].refused.empty() ? 0 : 1;
    }
    so_far.done += end - begin;
    if (watch) watch(so_far);
  });
  return answers;
}

}  // namespace

void in_shares(std::size_t count, const std::function<void(std::size_t begin, std::size_t end)>& run) {
  const proc::HeldSignals held;  // before the threads, which hold them too
  const std::size_t workers = std::max(1U, std::thread::hardware_concurrency());
  const auto share = std::clamp<std::size_t>((count + workers - 1) / workers, 1, kShare);
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (auto begin = next.fetch_add(share); begin < count; begin = next.fetch_add(share)) {
      try {
        run(begin, std::min(begin + share, count));
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min(workers, (count + share - 1) / share); ++i) threads.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

jobs::TaskPoser node_poser(const DevicePaths& paths, bool strict, const std::function<void(const PosedSoFar&)>& watch) {
  return [=](const jobs::PoseRequest& request) { return pose(request, paths, strict, watch); };
}

}  // namespace nkigrid::device
