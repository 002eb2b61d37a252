#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "aggregate/evidence/population.hpp"
#include "cli/python_tool.hpp"
#include "cli/usage.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/run_folders.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::cli {
namespace {

namespace fs = std::filesystem;

constexpr Seconds kBuildTimeout{3600};

struct ReportOptions {
  std::vector<std::string> runs;
  std::string output;
  std::uint32_t every_s = 30;  ///< of a report that is watched
  bool watch = false, timelines = false, quiet = false;
};

/// A page holds the transcripts: it is open to whom the log is.
fs::path own_report_folder(const fs::path& run) {
  auto folder = jobs::make_own_folder(run, "report");
  std::error_code ignored;  // a folder that is somebody else's stays as he has it
  if (const auto log = fs::status(run / "log", ignored); fs::exists(log))
    fs::permissions(folder, log.permissions(), ignored);
  return folder;
}

ExitCode report(const ReportOptions& options) {
  const auto runs = aggregate::read_runs(options.runs);  // refuses what is no run before anything is written
  const auto outstanding = std::accumulate(runs.begin(), runs.end(), std::uint64_t{0},
                                           [](auto sum, const auto& read) { return sum + read.ledger.outstanding(); });
  const fs::path output =
      options.output.empty() ? own_report_folder(options.runs.front()) / "index.html" : fs::path(options.output);
  if (output.has_parent_path()) make_directories(output.parent_path());
  std::vector<std::string> arguments = {fs::read_symlink("/proc/self/exe"), output};
  if (options.timelines) arguments.emplace_back("--timelines");
  for (const auto& name : aggregate::names_of(runs)) arguments.push_back("--label=" + name);
  arguments.insert(arguments.end(), options.runs.begin(), options.runs.end());
  const auto told = run_python_tool("report/build.py", arguments, kBuildTimeout, TemporaryDirectory("nkigrid-report"));
  if (!options.quiet) {
    notice("{} ({:.1f} MB)", output.native(), static_cast<double>(fs::file_size(output)) / 1e6);
    if (!told.empty()) notice("{}", told.substr(0, told.size() - 1));
  }
  return outstanding == 0 ? ExitCode::done : ExitCode::incomplete;
}

/// Writes it anew until nothing is outstanding, or until it is interrupted.
ExitCode watch(const ReportOptions& options) {
  while (report(options) == ExitCode::incomplete) std::this_thread::sleep_for(std::chrono::seconds(options.every_s));
  return ExitCode::done;
}

}  // namespace

Verb report_verb() {
  return {
      "report", "writes one HTML file of runs: tables, figures, every episode with its transcript",
      [](CLI::App& app) -> Action {
        auto options = std::make_shared<ReportOptions>();
        app.add_option("run", options->runs, "runs, put together as `tables` does")->required()->type_name("RUN");
        app.add_option("-o,--output", options->output, "the file; default: RUN/report/index.html")->type_name("FILE");
        app.add_flag("--watch", options->watch, "writes it anew until no episode is outstanding");
        want_whole(app.add_option("--every", options->every_s, "seconds between two reports of --watch")
                       ->capture_default_str(),
                   1, 86400);
        app.add_flag("--timelines", options->timelines,
                     "with the simulator's timeline of every final kernel that passes; compiles each again, about a "
                     "second a kernel");
        app.add_flag("-q,--quiet", options->quiet, "no notices");
        return [options] { return options->watch ? watch(*options) : report(*options); };
      }};
}

}  // namespace nkigrid::cli
