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
#include <nlohmann/json.hpp>

#include "cli/cluster.hpp"
#include "cli/grids.hpp"
#include "cli/json_text.hpp"
#include "cli/own_rights.hpp"
#include "cli/schedule_report.hpp"
#include "cli/schedulers.hpp"
#include "cli/set_option.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/pace.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/costs.hpp"

namespace nkigrid::cli {
namespace {

struct SubmitOptions {
  std::string grid, run;
  bool dry_run = false, json = false, quiet = false, trust = false;
  std::vector<std::string> costs, sets;
};

void print_scripts(const jobs::Run& run, const std::filesystem::path& folder, const jobs::DryRun& would) {
  nlohmann::ordered_json out = {
      {"version", 1}, {"run", run.folder.native()}, {"submitted", false}, {"scripts", nlohmann::ordered_json::array()}};
  for (const auto& script : would.scripts) out["scripts"].push_back((folder / script.name).native());
  fmt::print("{}", json_text(out));
}

/// Writes RUN/scripts and prints them.
void dry_run(const jobs::Run& run, jobs::Scheduler& scheduler, const SubmitOptions& options) {
  std::vector<std::uint32_t> shards(run.plan.shards);
  std::iota(shards.begin(), shards.end(), 0);
  const auto folder = std::filesystem::absolute(run.folder) / "scripts";
  const auto would = scheduler.dry_run(run, {std::move(shards), program_path(), {}});
  if (!would.note.empty() && !options.quiet) notice("{}", would.note);
  std::filesystem::remove_all(folder);  // an earlier dry run may have had more arrays
  make_directories(folder);
  for (const auto& script : would.scripts) {
    write_file_atomic(folder / script.name, script.text);
    if (!options.json) fmt::print("{}", script.text);
  }
  if (options.json) print_scripts(run, folder, would);
  if (options.quiet) return;
  print_pace(run, jobs::pace_of(run.grid, run.plan.shards), stderr);
  notice("nothing is submitted; the scripts stand in '{}', and `sh '{}'` submits them in their order", folder.native(),
         (folder / "submit.sh").native());
}

std::map<std::uint32_t, std::uint64_t> episodes_by_shard(const jobs::Plan& plan) {
  std::map<std::uint32_t, std::uint64_t> count;
  for (const auto& episode : plan.episodes) ++count[episode.shard];
  return count;
}

/// By shard, what a run that stands in `folder` holds.
std::map<std::uint32_t, std::uint64_t> episodes_before(const std::filesystem::path& folder) {
  try {
    return jobs::is_run(folder) ? episodes_by_shard(jobs::load_run(folder).plan)
                                : std::map<std::uint32_t, std::uint64_t>();
  } catch (const Error&) {
    return {};  // the freeze says what is wrong with it, or mends it
  }
}

/// By shard, what `plan` has beyond `before`; nothing where there was no run.
std::map<std::uint32_t, std::uint64_t> gained(const jobs::Plan& plan,
                                              const std::map<std::uint32_t, std::uint64_t>& before) {
  if (before.empty()) return {};
  auto added = episodes_by_shard(plan);
  for (auto& [shard, episodes] : added) {
    if (const auto at = before.find(shard); at != before.end()) episodes -= std::min(episodes, at->second);
  }
  return added;
}

ExitCode submit(const SubmitOptions& options) {
  const auto grid = open_grid_to_use(options.grid, options.sets, jobs::UsedPart::all, options.trust);
  const auto scheduler = site_scheduler();
  scheduler->check_submittable(grid, options.run);
  // The controller is asked before anything is frozen: a submit that cannot work leaves nothing behind.
  if (!options.dry_run) scheduler->connect();
  const auto before = episodes_before(options.run);
  const auto run = jobs::freeze_run(grid, benchmark_of(grid), options.run, log::learn_costs(options.costs));
  make_directories(run.log_folder());
  if (options.dry_run) {
    dry_run(run, *scheduler, options);
    return ExitCode::done;
  }
  return submit_outstanding(
      run, *scheduler,
      {.with_parked = false, .quiet = options.quiet, .json = options.json, .added = gained(run.plan, before)});
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
            app.add_flag("--json", options->json, "what it did, machine-readable, on stdout");
            app.add_flag("-q,--quiet", options->quiet, "prints nothing when all goes well");
            add_trust_option(app, options->trust);
            add_set_option(app, options->sets);
            add_costs_option(app, options->costs);
            return [options] { return submit(*options); };
          }};
}

}  // namespace nkigrid::cli
