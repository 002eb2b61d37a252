#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "cli/status_report.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "slurm/submit.hpp"

namespace nkigrid::cli {
namespace {

/// How often --follow looks again; a controller is asked no more often than this.
constexpr std::chrono::seconds kFollowInterval{10};

struct Options {
  std::string run;
  bool json = false, follow = false, quiet = false;
};

/// The elements of a submitted run; a cluster that cannot be asked costs a warning, never the status.
void add_elements(const jobs::Run& run, StatusReport& report) {
  if (slurm::read_submissions(run).empty()) return;
  try {
    const auto client = slurm::connect();
    for (auto& element : slurm::element_states(run, *client)) report.elements.push_back({element.shard, element.job, element.state, element.reason});
  } catch (const Error& error) {
    fmt::print(stderr, "nkigrid: warning: {}\n", error.what());
  }
}

StatusReport look(const std::string& folder) {
  const auto run = jobs::load_run(folder);
  auto report = make_status(run, log::read_ledger(run));
  add_elements(run, report);
  return report;
}

int status(const Options& options) {
  for (;;) {
    const auto report = look(options.run);
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
