#include <memory>
#include <numeric>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "cli/cluster.hpp"
#include "cli/schedule_report.hpp"
#include "cli/verb.hpp"
#include "jobs/base/files.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/costs.hpp"
#include "slurm/submit.hpp"

namespace nkigrid::cli {
namespace {

struct Options {
  std::string grid, run;
  bool dry_run = false, quiet = false;
  std::vector<std::string> costs;
};

int submit(const Options& options) {
  const auto grid = jobs::load_grid(options.grid, jobs::configs_folder());
  slurm::check_submittable(grid);
  // The controller is asked before anything is frozen: a submit that cannot work leaves nothing behind.
  auto client = options.dry_run ? nullptr : slurm::connect();
  const auto run = jobs::freeze_run(grid, jobs::load_benchmark(grid.benchmark), options.run, log::learn_costs(options.costs));
  make_directories(run.log_folder());
  if (client == nullptr) {
    std::vector<std::uint32_t> shards(run.plan.shards);
    std::iota(shards.begin(), shards.end(), 0);
    for (const auto& script : slurm::dry_run_scripts(run, shards, slurm::Limits{}, program_path())) fmt::print("{}", script);
    return 0;
  }
  return submit_outstanding(run, *client, {.with_parked = false, .quiet = options.quiet});
}

}  // namespace

Verb submit_verb() {
  return {"submit", "freezes a run and submits its array(s) and the dependent aggregation to Slurm", [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            app.add_option("grid", options->grid, "grid file")->required()->type_name("GRID");
            app.add_option("-o,--output", options->run, "where the run lives, on a file system that all nodes share")->required()->type_name("RUN");
            app.add_flag("--dry-run", options->dry_run, "freezes RUN and prints the sbatch script(s); needs no Slurm");
            app.add_flag("-q,--quiet", options->quiet, "prints nothing when all goes well");
            add_costs_option(app, options->costs);
            return [options] { return submit(*options); };
          }};
}

}  // namespace nkigrid::cli
