#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "aggregate/tables/document.hpp"
#include "cli/grids.hpp"
#include "cli/own_rights.hpp"
#include "cli/reverified_run.hpp"
#include "cli/run_session.hpp"
#include "cli/set_option.hpp"
#include "cli/usage.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/ledger.hpp"
#include "runner/mpi/comm.hpp"

namespace nkigrid::cli {
namespace {

struct ReverifyOptions {
  std::string run, device, output;
  std::vector<std::string> sets;
  std::uint32_t turns = 0, lanes = 0;
  bool freeze_only = false, json = false, quiet = false, trust = false;
};

/// "RUN/" is RUN: its name has more to it here.
std::filesystem::path folder_of(const std::string& name) {
  const auto path = std::filesystem::path(name).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

/// What the two runs differ in. Nothing of it is kept: `tables RUN RUN2` prints it again.
void print_changes(const ReverifyOptions& options, const std::string& after) {
  const auto sources = aggregate::read_runs({options.run, after});
  const auto population = aggregate::merge_runs(sources);
  const auto format = options.json ? aggregate::Format::json : aggregate::Format::text;
  const auto evidence = aggregate::evidence_of(population, {.by = aggregate::ScopesBy::level});
  const auto tables = aggregate::parse_tables({"changes", "change-tests"}, format, aggregate::From::runs);
  fmt::print("{}", aggregate::print_tables(evidence, tables, format));
}

ExitCode reverify(const ReverifyOptions& options, ProgramArguments arguments) {
  if (mpi::under_launcher())
    throw Error(ErrorCode::usage,
                "reverify is one process; make the run with --freeze-only, then `mpirun ... nkigrid "
                "run RUN2` judges the kernels");
  const auto run = jobs::load_run(options.run);
  const auto device = open_grid_to_use(options.device, options.sets, jobs::UsedPart::device, options.trust);
  const auto after =
      folder_of(options.output.empty() ? folder_of(options.run).native() + "-" + device.name : options.output).native();
  make_reverified_run(run, log::read_ledger(run), device, options.turns, after);
  if (options.freeze_only) {
    notice(
        "{0} is made; `nkigrid resume {0}` submits it, `nkigrid run {0}` runs it here; then `nkigrid tables {1} {0} "
        "--by level --table changes --table change-tests` says what changed",
        after, options.run);
    return ExitCode::done;
  }
  const auto code = run_session({.run = after, .lanes = options.lanes, .quiet = options.quiet}, arguments);
  print_changes(options, after);
  return code;
}

}  // namespace

Verb reverify_verb(ProgramArguments arguments) {
  return {"reverify", "judges a run's kernels anew: another device, SDK, tolerance, seed of inputs, or changed tasks",
          [arguments](CLI::App& app) -> Action {
            auto options = std::make_shared<ReverifyOptions>();
            app.add_option("run", options->run, "a run, whose verdicts stay as they are")->required()->type_name("RUN");
            app.add_option("--device", options->device,
                           "grid file whose benchmark, seed, device, check, lanes and slurm are taken; what else "
                           "stands in it is passed over")
                ->required()
                ->type_name("GRID");
            add_trust_option(app, options->trust);
            add_set_option(app, options->sets);
            app.add_option("-o,--output", options->output, "where the new run lives; default: RUN-<the grid's name>")
                ->type_name("RUN2");
            want_whole(app.add_option("--turns", options->turns,
                                      "the kernels as they stood after so many turns (default: the final ones)"),
                       1, 1'000'000);
            app.add_flag("--freeze-only", options->freeze_only,
                         "makes RUN2 and does not run it: for `resume RUN2` on a cluster, or mpirun `run RUN2`");
            add_lanes_option(app, options->lanes);
            app.add_flag("--json", options->json, "the tables as JSON");
            app.add_flag("-q,--quiet", options->quiet, "no progress");
            return [options, arguments] { return reverify(*options, arguments); };
          }};
}

}  // namespace nkigrid::cli
