#include "cli/bench_overlap.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/benchmarks.hpp"
#include "cli/json_text.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/foreign_files.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/grid/grid.hpp"
#include "runner/device/paths.hpp"
#include "runner/proc/child.hpp"
#include "runner/proc/held_signals.hpp"
#include "runner/proc/spawn.hpp"

namespace nkigrid::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr Seconds kOverlapTimeout{4 * 3600};
constexpr std::size_t kMostFileBytes = std::size_t{1} << 20;
constexpr std::size_t kMostAnswer = std::size_t{256} << 20;

/// Every Python file below a folder, by its path there; links are not followed.
std::map<std::string, std::string> python_below(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied), end; at != end;
       ++at) {
    if (!at->is_regular_file() || at->is_symlink() || at->path().extension() != ".py") continue;
    if (at->file_size() > kMostFileBytes) continue;
    const auto name = at->path().lexically_relative(folder);
    files[name.native()] = read_foreign_file(folder, name, kMostFileBytes);
  }
  return files;
}

bool is_own_benchmark(const std::string& name) {
  std::error_code none;
  return fs::exists(fs::path(name) / "index.json", none) ||
         fs::exists(jobs::configs_folder() / name / "index.json", none);
}

/// The tasks of a benchmark of ours, else all Python files of a folder.
std::map<std::string, std::string> texts_of(const std::string& name) {
  if (!is_own_benchmark(name) && fs::is_directory(name)) return python_below(name);
  std::map<std::string, std::string> texts;
  for (const auto& task : open_benchmark(name).tasks) texts[task.id] = task.source;
  return texts;
}

json list_of(const std::map<std::string, std::string>& texts) {
  json list = json::array();
  for (const auto& [id, source] : texts) list.push_back({{"id", id}, {"source", source}});
  return list;
}

/// What the helper said.
struct Answer {
  std::vector<json> pairs;
  json ran;  ///< {"a", "b"}: how many texts could be run; null when that was not asked for
};

Answer ask_helper(const json& request) {
  const auto paths = device::default_device_paths();
  const proc::HeldSignals held;
  const TemporaryDirectory folder;
  const auto file = folder.path() / "request.json";
  write_file_atomic(file, request.dump(-1, ' ', false, json::error_handler_t::replace));
  auto environment = proc::numeric_environment();
  environment.emplace_back("LANG=C.UTF-8");
  environment.emplace_back("PYTHONHASHSEED=0");
  const auto result = proc::run_command(
      {NKIGRID_PYTHON, "-s", "-B", paths.libexec / "overlap_tasks.py", file.native(),
       paths.libexec / "libnkigrid_sandbox.so", jobs::CheckSpec{}.strict_sandbox ? "strict" : "relaxed"},
      kOverlapTimeout, environment, kMostAnswer, folder.path());
  if (!proc::is_success(result.end))
    throw Error(ErrorCode::external,
                fmt::format("the helper that compares tasks {}: {}", proc::describe(result.end), result.err));
  Answer answer;
  std::istringstream lines(result.out);
  for (std::string text; std::getline(lines, text);) {
    auto line = json::parse(text);
    if (line.contains("how"))
      answer.pairs.push_back(std::move(line));
    else if (request.at("behaviour").get<bool>())
      answer.ran = line.at("ran");
  }
  return answer;
}

void print_pairs(const Answer& answer, std::size_t a, std::size_t b) {
  std::map<std::string, std::size_t> counts = {{"exact", 0}, {"near", 0}, {"behaviour", 0}};
  for (const auto& pair : answer.pairs) {
    const auto how = pair.at("how").get<std::string>();
    ++counts[how];
    say("{:<9}  {}  {}{}\n", how, pair.at("a").get<std::string>(), pair.at("b").get<std::string>(),
        how == "near" ? fmt::format("  ({:.2f})", pair.at("score").get<double>()) : "");
  }
  say("{} texts against {}: {} exact, {} near, {} by behaviour\n", a, b, counts["exact"], counts["near"],
      counts["behaviour"]);
  if (!answer.ran.is_null())
    say("compared by behaviour: {} and {}; the others are no tasks, too large, or do not run here\n",
        answer.ran.at("a").get<std::size_t>(), answer.ran.at("b").get<std::size_t>());
}

}  // namespace

ExitCode find_overlap(const Overlap& wanted) {
  if (!(wanted.near > 0 && wanted.near <= 1))
    throw Error(ErrorCode::usage, fmt::format("--near is {:g} (above 0 and at most 1 is wanted)", wanted.near));
  const auto a = texts_of(wanted.a);
  const bool inside = wanted.b.empty();
  const auto b = inside ? a : texts_of(wanted.b);
  const auto answer = ask_helper({{"a", list_of(a)},
                                  {"b", list_of(inside ? decltype(a){} : b)},
                                  {"inside", inside},
                                  {"near", wanted.near},
                                  {"behaviour", wanted.behaviour}});
  if (wanted.json) {
    nlohmann::ordered_json out = {{"version", 1}, {"a", a.size()}, {"b", b.size()}, {"pairs", answer.pairs}};
    out["ran"] = answer.ran;
    fmt::print("{}", json_text(out));
  } else {
    print_pairs(answer, a.size(), b.size());
  }
  return answer.pairs.empty() ? ExitCode::done : ExitCode::incomplete;
}

}  // namespace nkigrid::cli
