#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/cluster.hpp"
#include "cli/own_rights.hpp"
#include "cli/run_session.hpp"
#include "cli/schedulers.hpp"
#include "cli/verb.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::cli {
namespace {

struct ResumeOptions {
  std::string run;
  std::uint32_t lanes = 0;
  bool local = false, parked = false, json = false, quiet = false, trust = false;
};

/// On the cluster. A run that was never submitted and has nothing left needs none.
ExitCode resume_there(const ResumeOptions& options) {
  const auto run = jobs::load_run(options.run);
  jobs::require_log_key(run.folder, run.lost_log_key);
  jobs::require_secret(run);
  require_own_rights(run, jobs::UsedPart::all, options.trust, true);
  const auto scheduler = site_scheduler();
  const OutstandingOptions how{
      .with_parked = options.parked, .quiet = options.quiet, .json = options.json, .added = {}};
  if (!scheduler->is_submitted(run)) {
    const auto ledger = log::read_ledger(run);
    if (ledger.outstanding() == 0) return nothing_to_submit(run, ledger, how);
  }
  scheduler->check_submittable(run.grid, run.folder);
  scheduler->connect();
  return submit_outstanding(run, *scheduler, how);
}

}  // namespace

Verb resume_verb(ProgramArguments arguments) {
  return {"resume", "continues what is outstanding", [arguments](CLI::App& app) -> Action {
            auto options = std::make_shared<ResumeOptions>();
            app.add_option("run", options->run, "a frozen run")->required()->type_name("RUN");
            app.add_flag("--local", options->local, "here instead of on the cluster");
            app.add_flag("--parked", options->parked, "also episodes that infrastructure failures parked");
            add_lanes_option(app, options->lanes);
            add_trust_option(app, options->trust);
            app.add_flag("--json", options->json, "what it came to, machine-readable, on stdout");
            app.add_flag("-q,--quiet", options->quiet, "no progress");
            return [options, arguments]() -> ExitCode {
              if (!options->local) return resume_there(*options);
              return run_session({.run = options->run,
                                  .lanes = options->lanes,
                                  .with_parked = options->parked,
                                  .quiet = options->quiet,
                                  .json = options->json,
                                  .trust_commands = options->trust},
                                 arguments);
            };
          }};
}

}  // namespace nkigrid::cli
