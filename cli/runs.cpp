#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/json_text.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/base/text.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::cli {
namespace {

namespace fs = std::filesystem;

struct ListedRun {
  fs::path folder;
  std::string name, problem;  ///< problem: why it cannot be read, or ""
  std::time_t frozen = 0;     ///< when its grid was last frozen
  std::uint64_t bytes = 0, episodes = 0, scored = 0;
};

/// The folder's own name, also of one that was written with a slash at its end.
std::string name_of(const fs::path& folder) {
  const auto path = fs::absolute(folder).lexically_normal();
  return printable((path.has_filename() ? path : path.parent_path()).filename().native());
}

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t sum = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored) && !at->is_symlink(ignored)) sum += at->file_size(ignored);
  }
  return sum;
}

std::time_t written_at(const fs::path& file) {
  const auto time = std::chrono::file_clock::to_sys(fs::last_write_time(file));
  return std::chrono::system_clock::to_time_t(std::chrono::time_point_cast<std::chrono::system_clock::duration>(time));
}

ListedRun look_at(const fs::path& folder) {
  ListedRun listed{.folder = folder, .name = {}, .problem = {}};
  try {
    listed.frozen = written_at(folder / "grid.yaml");
    listed.bytes = bytes_in(folder);
    const auto run = jobs::load_run(folder);
    const auto ledger = log::read_ledger(run);
    listed.name = run.grid.name;
    listed.episodes = run.plan.episodes.size();
    listed.scored = ledger.scored();
  } catch (const std::exception& error) {
    listed.problem = error.what();
  }
  return listed;
}

/// The runs right in a folder, or the folder itself where it is one; newest first.
std::vector<ListedRun> list_runs(const fs::path& folder) {
  std::vector<ListedRun> runs;
  if (jobs::is_run(folder)) return {look_at(folder)};
  if (!fs::is_directory(folder))
    throw Error(ErrorCode::usage, fmt::format("'{}' is no folder; name one that holds runs", folder.native()));
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (jobs::is_run(entry.path())) runs.push_back(look_at(entry.path()));
  }
  std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
    return a.frozen != b.frozen ? a.frozen > b.frozen : a.folder < b.folder;
  });
  return runs;
}

std::string size_word(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit < 4) value /= 1000, ++unit;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.3g} {}", value, kUnits[unit]);
}

std::string runs_text(const std::vector<ListedRun>& runs) {
  std::size_t width = 6;
  for (const auto& run : runs) width = std::max(width, name_of(run.folder).size());
  auto text = fmt::format("{:<{}}  {:<16}  {:>8}  {:>15}  {}\n", "folder", width, "frozen", "size", "scored", "grid");
  for (const auto& run : runs) {
    const auto scored = run.problem.empty() ? fmt::format("{}/{}", run.scored, run.episodes) : "-";
    text += fmt::format("{:<{}}  {:%Y-%m-%d %H:%M}  {:>8}  {:>15}  {}\n", name_of(run.folder), width,
                        fmt::localtime(run.frozen), size_word(run.bytes), scored,
                        printable(run.problem.empty() ? run.name : run.problem));
  }
  return text;
}

std::string runs_json(const std::vector<ListedRun>& runs) {
  nlohmann::ordered_json out = {{"version", 1}, {"runs", nlohmann::ordered_json::array()}};
  for (const auto& run : runs) {
    out["runs"].push_back(
        {{"folder", run.folder.native()},
         {"name", run.name},
         {"frozen", run.frozen},
         {"bytes", run.bytes},
         {"episodes", run.episodes},
         {"scored", run.scored},
         {"problem", run.problem.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(run.problem)}});
  }
  return json_text(out);
}

}  // namespace

Verb runs_verb() {
  return {
      "runs", "lists the runs in a folder: name, date, size, progress", [](CLI::App& app) -> Action {
        struct Options {
          std::string folder = ".";
          bool json = false, quiet = false;
        };
        auto options = std::make_shared<Options>();
        app.add_option("folder", options->folder, "folder that holds runs")->type_name("DIR")->capture_default_str();
        app.add_flag("--json", options->json, "machine-readable, on stdout");
        app.add_flag("-q,--quiet", options->quiet, "no notices");
        return [options] {
          const auto runs = list_runs(options->folder);
          fmt::print("{}", options->json ? runs_json(runs) : runs_text(runs));
          if (runs.empty() && !options->quiet) notice("no run in '{}'", options->folder);
          return ExitCode::done;
        };
      }};
}

}  // namespace nkigrid::cli
