#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "cli/cluster.hpp"
#include "cli/schedule_report.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/costs.hpp"
#include "slurm/dry_run.hpp"
#include "slurm/submit.hpp"

namespace nkigrid::cli {
namespace {

struct SubmitOptions {
  std::string grid, run;
  bool dry_run = false, quiet = false;
  std::vector<std::string> costs;
};

/// The site's limits, where there is a site; else Slurm's defaults.
slurm::Limits limits_here(bool quiet) {
  try {
    return slurm::connect()->limits();
  } catch (const Error& error) {
    const slurm::Limits limits;
    if (!quiet) {
      fmt::print(stderr,
                 "nkigrid: the limits are Slurm's defaults (MaxArraySize {}, MaxJobCount {}), for the site's are not "
                 "known here: {}\n",
                 limits.max_array_size, limits.max_job_count, error.what());
    }
    return limits;
  }
}

/// Writes RUN/scripts and prints them.
void dry_run(const jobs::Run& run, bool quiet) {
  std::vector<std::uint32_t> shards(run.plan.shards);
  std::iota(shards.begin(), shards.end(), 0);
  const auto folder = std::filesystem::absolute(run.folder) / "scripts";
  const auto scripts = slurm::dry_run(run, shards, limits_here(quiet), program_path());
  std::filesystem::remove_all(folder);  // an earlier dry run may have had more arrays
  make_directories(folder);
  for (const auto& script : scripts) {
    write_file_atomic(folder / script.name, script.text);
    fmt::print("{}", script.text);
  }
  if (quiet) return;
  print_pace(run, slurm::pace_of(run.grid, run.plan.shards), stderr);
  fmt::print(stderr,
             "nkigrid: nothing is submitted; the scripts stand in '{}', and `sh '{}'` submits them in their order\n",
             folder.native(), (folder / "submit.sh").native());
}

std::map<std::uint32_t, std::uint64_t> episodes_by_shard(const jobs::Plan& plan) {
  std::map<std::uint32_t, std::uint64_t> count;
  for (const auto& episode : plan.episodes) ++count[episode.shard];
  return count;
}

/// By shard, what a run that stands in `folder` is about to gain.
std::map<std::uint32_t, std::uint64_t> episodes_before(const std::filesystem::path& folder) {
  try {
    return jobs::is_run(folder) ? episodes_by_shard(jobs::load_run(folder).plan)
                                : std::map<std::uint32_t, std::uint64_t>();
  } catch (const Error&) {
    return {};  // the freeze says what is wrong with it, or mends it
  }
}

ExitCode submit(const SubmitOptions& options) {
  const auto grid = jobs::load_grid(options.grid, jobs::configs_folder());
  slurm::check_submittable(grid, options.run);
  // The controller is asked before anything is frozen: a submit that cannot work leaves nothing behind.
  auto client = options.dry_run ? nullptr : slurm::connect();
  const auto before = episodes_before(options.run);
  const auto run =
      jobs::freeze_run(grid, jobs::load_benchmark(grid.benchmark), options.run, log::learn_costs(options.costs));
  make_directories(run.log_folder());
  if (client != nullptr) {
    auto added = episodes_by_shard(run.plan);
    for (auto& [shard, episodes] : added) {
      if (const auto at = before.find(shard); at != before.end()) episodes -= std::min(episodes, at->second);
    }
    return submit_outstanding(
        run, *client,
        {.with_parked = false, .quiet = options.quiet, .added = before.empty() ? decltype(added){} : added});
  }
  dry_run(run, options.quiet);
  return ExitCode::done;
}

}  // namespace

Verb submit_verb() {
  return {"submit", "freezes a run and submits its array(s) and the dependent aggregation to Slurm",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<SubmitOptions>();
            app.add_option("grid", options->grid, "grid file")->required()->type_name("GRID");
            app.add_option("-o,--output", options->run, "where the run lives, on a file system that all nodes share")
                ->required()
                ->type_name("RUN");
            app.add_flag("--dry-run", options->dry_run,
                         "freezes RUN, writes the sbatch scripts to RUN/scripts and prints them; needs no Slurm");
            app.add_flag("-q,--quiet", options->quiet, "prints nothing when all goes well");
            add_costs_option(app, options->costs);
            return [options] { return submit(*options); };
          }};
}

}  // namespace nkigrid::cli
