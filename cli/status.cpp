#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "cli/status_report.hpp"
#include "cli/verb.hpp"
#include "jobs/base/clock.hpp"
#include "jobs/base/error.hpp"
#include "runner/progress.hpp"
#include "slurm/submit.hpp"

namespace nkigrid::cli {
namespace {

/// How often --follow looks again; a controller is asked no more often than this.
constexpr std::chrono::seconds kFollowInterval{10};

struct Options {
  std::string run;
  bool json = false, follow = false, quiet = false;
};

double unix_now() { return SystemClock().unix_seconds(); }

/// The cluster behind a run, asked once a look; one that cannot be asked costs a warning, never the status.
class Cluster {
 public:
  void add_elements(const jobs::Run& run, StatusReport& report) {
    if (slurm::read_submissions(run).empty()) return;
    try {
      if (client_ == nullptr) client_ = slurm::connect();
      for (auto& element : slurm::element_states(run, *client_)) {
        report.elements.push_back({element.shard, element.job, element.state, element.reason, element.advice,
                                   element.submitted > 0 ? unix_now() - element.submitted : -1});
      }
    } catch (const Error& error) {
      client_ = nullptr;  // probed anew at the next look
      fmt::print(stderr, "nkigrid: warning: {}\n", error.what());
    }
  }

 private:
  std::unique_ptr<slurm::Client> client_;
};

int status(const Options& options) {
  Cluster cluster;
  const bool rewrite = options.follow && !options.json && runner::is_terminal(STDOUT_FILENO);
  for (;;) {
    const auto run = jobs::load_run(options.run);
    auto report = make_status(run, log::read_ledger(run), unix_now());
    cluster.add_elements(run, report);
    if (rewrite) fmt::print("\x1b[H\x1b[2J");
    if (!options.quiet) fmt::print("{}", options.json ? to_json(report) : to_text(report));
    std::fflush(stdout);
    if (!options.follow || report.outstanding == 0) return report.outstanding == 0 ? 0 : 1;
    std::this_thread::sleep_for(kFollowInterval);
  }
}

}  // namespace

Verb status_verb() {
  return {"status", "shows how far a run is and what is outstanding", [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            app.add_option("run", options->run, "a frozen run")->required()->type_name("RUN");
            app.add_flag("--json", options->json, "machine readable");
            app.add_flag("--follow", options->follow, "looks again until nothing is outstanding");
            app.add_flag("-q,--quiet", options->quiet, "prints nothing; the exit code says whether anything is outstanding");
            return [options] { return status(*options); };
          }};
}

}  // namespace nkigrid::cli
