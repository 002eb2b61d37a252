#include <memory>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "cli/grids.hpp"
#include "cli/own_rights.hpp"
#include "cli/run_session.hpp"
#include "cli/schedule_report.hpp"
#include "cli/schedulers.hpp"
#include "cli/set_option.hpp"
#include "cli/usage.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/run_directory.hpp"

namespace nkigrid::cli {
namespace {

struct RunOptions {
  std::string subject, run;
  int shard = -1;
  std::uint32_t lanes = 0, elements_at_once = 1;
  bool parked = false, json = false, quiet = false, trust = false, served = false;
  std::vector<std::string> costs, sets;
};

std::optional<ShardId> shard_of(const RunOptions& options) {
  if (options.shard >= 0) return ShardId{static_cast<std::uint32_t>(options.shard)};
  return site_allocation()->element();
}

ExitCode run(const RunOptions& options, ProgramArguments arguments) {
  SessionOptions session{.lanes = options.lanes,
                         .elements_at_once = options.elements_at_once,
                         .with_parked = options.parked,
                         .quiet = options.quiet,
                         .json = options.json};
  if (jobs::is_run(options.subject)) {
    if (!options.run.empty())
      throw Error(ErrorCode::usage,
                  fmt::format("'{}' is a run already; leave -o away, or give a grid file", options.subject));
    if (!options.costs.empty())
      throw Error(ErrorCode::usage, "--costs is for a grid file; a frozen run keeps the costs it was frozen with");
    refuse_sets_of_run(options.sets, options.subject);
    session.run = options.subject;
    session.shard = shard_of(options);
    session.trust_commands = options.trust;
    session.served = options.served;
  } else {
    if (options.run.empty())
      throw Error(ErrorCode::usage,
                  fmt::format("'{}' is a grid file; say with -o RUN where the run shall live", options.subject));
    if (options.shard >= 0) throw Error(ErrorCode::usage, "--shard works on a frozen run; `run RUN --shard K`");
    session.grid = open_grid_to_use(options.subject, options.sets, jobs::UsedPart::all, options.trust);
    session.run = options.run;
    session.costs = options.costs;
  }
  return run_session(session, arguments);
}

}  // namespace

Verb run_verb(ProgramArguments arguments) {
  return {"run", "runs a grid, or continues a run, on this machine (alone or as one process of many under mpirun)",
          [arguments](CLI::App& app) -> Action {
            auto options = std::make_shared<RunOptions>();
            app.add_option("subject", options->subject, "GRID file (with -o RUN), or a frozen RUN")
                ->required()
                ->type_name("GRID|RUN");
            app.add_option("-o,--output", options->run,
                           "where the run lives; an existing run of the same grid is continued")
                ->type_name("RUN");
            want_whole(app.add_option("--shard", options->shard,
                                      "only this shard of a frozen run; default SLURM_ARRAY_TASK_ID, else all"),
                       0, 1'000'000);
            want_whole(app.add_option("--elements-at-once", options->elements_at_once,
                                      "elements of this run that work at once, this one among them: each keeps to its "
                                      "part of every model's concurrency")
                           ->capture_default_str(),
                       1, 1'000'000);
            app.add_flag("--parked", options->parked, "also episodes that infrastructure failures parked");
            add_lanes_option(app, options->lanes);
            app.add_flag("--json", options->json, "what it came to, machine-readable, on stdout");
            add_trust_option(app, options->trust);
            app.add_flag("--served", options->served,
                         "the models' servers are jobs of their own, as `submit` starts them: none is started here");
            app.add_flag("-q,--quiet", options->quiet, "no progress");
            add_set_option(app, options->sets);
            add_costs_option(app, options->costs);
            return [options, arguments] { return run(*options, arguments); };
          }};
}

}  // namespace nkigrid::cli
