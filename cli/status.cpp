#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "cli/cluster.hpp"
#include "cli/schedulers.hpp"
#include "cli/status_follow.hpp"
#include "cli/status_report.hpp"
#include "cli/verb.hpp"
#include "jobs/base/clock.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/notice.hpp"
#include "runner/log/endpoint_notes.hpp"
#include "runner/log/file_lock.hpp"
#include "runner/log/server_notes.hpp"
#include "runner/progress.hpp"

namespace nkigrid::cli {
namespace {

/// A controller is asked no more often than this: each question locks the job table of the whole site.
constexpr Seconds kAskEvery{10};

struct StatusOptions {
  std::string run;
  bool json = false, follow = false, quiet = false;
};

double unix_now() { return SystemClock().unix_seconds(); }

/// The cluster behind a run. One that cannot be asked costs a warning, never the status: what it said last stands.
class Cluster {
 public:
  void look(const jobs::Run& run, StatusReport& report) {
    const auto now = clock_.monotonic();
    if (!asked_ || now - *asked_ >= kAskEvery) ask(run);
    report.elements = jobs_.elements;
    report.aggregation = jobs_.aggregation;
    report.server_jobs = jobs_.servers;
    report.cluster_warning = warning_;
  }
  /// True when a job of the run lives, or when nobody can say.
  bool works() const {
    return !warning_.empty() || std::any_of(jobs_.elements.begin(), jobs_.elements.end(),
                                            [](const auto& element) { return element.active; });
  }

 private:
  void ask(const jobs::Run& run) {
    // Jobs that somebody sent by hand from the dry run's scripts are found by their comments; there may be none, and no
    // Slurm either.
    const bool submitted = scheduler_->is_submitted(run);
    if (!submitted && !std::filesystem::exists(run.folder / "scripts")) return;
    warning_.clear();
    try {
      jobs_ = scheduler_->jobs(run);
    } catch (const Error& error) {
      if (submitted) warning_ = error.what();
    }
    asked_ = clock_.monotonic();  // counted from the answer
  }

  const SystemClock clock_;
  const std::unique_ptr<jobs::Scheduler> scheduler_ = site_scheduler();
  std::optional<Seconds> asked_;
  jobs::RunJobs jobs_;
  std::string warning_;
};

StatusReport look_at(const jobs::Run& run, Cluster& cluster) {
  const auto ledger = log::read_ledger(run);
  auto report = make_status(run, ledger, unix_now());
  cluster.look(run, report);
  report.tables_stand = has_tables_of(run, ledger);
  report.works = cluster.works() || log::has_living_writer(run.log_folder());
  // Left by sessions that died, they say nothing.
  if (report.works) {
    report.endpoints = log::read_endpoint_notes(run.log_folder());
    report.narrowed = log::read_endpoint_notes(run.log_folder(), log::EndpointNote::narrow);
  }
  report.servers = log::living_servers(run.log_folder());
  return report;
}

ExitCode once(const StatusOptions& options) {
  Cluster cluster;
  const auto report = look_at(jobs::load_run(options.run), cluster);
  if (!report.cluster_warning.empty()) warn("{}", report.cluster_warning);
  if (!options.quiet) fmt::print("{}", options.json ? to_json(report) : to_text(report));
  return report.outstanding == 0 ? ExitCode::done : ExitCode::incomplete;
}

FollowStyle style_of(const StatusOptions& options) {
  if (options.quiet) return FollowStyle::silent;
  if (options.json) return FollowStyle::json_lines;
  return runner::is_terminal(STDOUT_FILENO) ? FollowStyle::redraw : FollowStyle::lines;
}

ExitCode follow_run(const StatusOptions& options) {
  Cluster cluster;
  std::string told;
  const auto style = style_of(options);
  return follow(style, [&] {
    const auto run = jobs::load_run(options.run);
    auto report = look_at(run, cluster);
    if (style != FollowStyle::redraw && report.cluster_warning != std::exchange(told, report.cluster_warning) &&
        !told.empty()) {
      warn("{}", told);
    }
    return report;
  });
}

}  // namespace

Verb status_verb() {
  return {"status", "shows how far a run is and what is outstanding", [](CLI::App& app) -> Action {
            auto options = std::make_shared<StatusOptions>();
            app.add_option("run", options->run, "a frozen run")->required()->type_name("RUN");
            app.add_flag("--json", options->json, "machine readable; with --follow one document a line");
            app.add_flag("--follow", options->follow,
                         "looks again until nothing is outstanding, or nothing works on the run any more");
            app.add_flag("-q,--quiet", options->quiet,
                         "prints nothing; the exit code says whether anything is outstanding");
            return [options] { return options->follow ? follow_run(*options) : once(*options); };
          }};
}

}  // namespace nkigrid::cli
