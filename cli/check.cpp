#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/grids.hpp"
#include "cli/json_text.hpp"
#include "cli/set_option.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/base/text.hpp"
#include "jobs/forecast/forecast.hpp"
#include "jobs/make_plan.hpp"
#include "jobs/run_directory.hpp"

namespace nkigrid::cli {
namespace {

struct CheckOptions {
  std::string grid;
  std::vector<std::string> sets;
  bool json = false, quiet = false;
};

/// What a good grid comes to.
struct Sizes {
  std::string hash;
  std::size_t cells = 0, tasks = 0, episodes = 0;
  std::uint32_t shards = 0;
  std::uint64_t requests = 0;
  double usd = 0;
  bool has_price = false, all_priced = true;
};

Sizes size_of(const jobs::Grid& grid) {
  const auto benchmark = benchmark_of(grid);
  const auto plan = jobs::make_plan(grid, benchmark);
  Sizes sizes{jobs::grid_hash(plan), plan.cells.size(), plan.tasks.size(), plan.episodes.size(), plan.shards};
  for (const auto& cell : jobs::forecast(grid, benchmark, plan)) {
    sizes.requests += cell.requests;
    sizes.usd += cell.usd.value_or(0);
    sizes.has_price |= cell.usd.has_value();
    sizes.all_priced &= cell.usd.has_value();
  }
  return sizes;
}

nlohmann::ordered_json to_json(const std::optional<Sizes>& sizes, const std::vector<jobs::Problem>& problems) {
  nlohmann::ordered_json out = {
      {"version", 1}, {"grid_hash", nullptr}, {"cells", nullptr}, {"episodes", nullptr}, {"shards", nullptr}};
  if (sizes) {
    out["grid_hash"] = sizes->hash;
    out["cells"] = sizes->cells;
    out["episodes"] = sizes->episodes;
    out["shards"] = sizes->shards;
    out["tasks"] = sizes->tasks;
    out["requests_at_most"] = sizes->requests;
    out["usd_at_most"] = sizes->has_price ? nlohmann::ordered_json(sizes->usd) : nullptr;
  }
  out["problems"] = nlohmann::ordered_json::array();
  for (const auto& problem : problems) {
    out["problems"].push_back(
        {{"file", problem.file}, {"line", problem.line}, {"col", problem.col}, {"message", problem.message}});
  }
  return out;
}

void print_text(const jobs::Grid& grid, const Sizes& sizes) {
  say("{}: {} cells, {} tasks, {} episodes in {} shard{}, grid hash {}\n", grid.name, sizes.cells, sizes.tasks,
      sizes.episodes, sizes.shards, sizes.shards == 1 ? "" : "s", sizes.hash.substr(0, 16));
  say("at most {} requests", sizes.requests);
  if (sizes.has_price)
    say(", about {:.2f} USD{} (a prior: nothing is measured yet)", sizes.usd,
        sizes.all_priced ? "" : " for the models with a price");
  say("\n");
}

ExitCode check(const CheckOptions& options) {
  const bool is_run = jobs::is_run(options.grid);
  const auto file = is_run ? std::filesystem::path(options.grid) / "grid.yaml" : std::filesystem::path(options.grid);
  if (is_run) refuse_sets_of_run(options.sets, options.grid);
  const auto result = jobs::read_grid(file, jobs::configs_folder(), {.poser = task_poser(), .sets = options.sets});
  std::optional<Sizes> sizes;
  if (result.grid) sizes = size_of(*result.grid);
  if (options.json) fmt::print("{}", json_text(to_json(sizes, result.problems)));
  if (!result.grid) {
    fmt::print(stderr, "{}\n", printable(jobs::to_text(result.problems)));
    throw Error(ErrorCode::config, fmt::format("{} problem{} in '{}'", result.problems.size(),
                                               result.problems.size() == 1 ? "" : "s", file.native()));
  }
  if (!options.json && !options.quiet) print_text(*result.grid, *sizes);
  return ExitCode::done;
}

}  // namespace

Verb check_verb() {
  return {"check", "validates a grid file: every problem at once, or what it comes to", [](CLI::App& app) -> Action {
            auto options = std::make_shared<CheckOptions>();
            app.add_option("grid", options->grid, "grid file")->required()->type_name("GRID");
            add_set_option(app, options->sets);
            app.add_flag("--json", options->json, "machine-readable, on stdout");
            app.add_flag("-q,--quiet", options->quiet, "problems only");
            return [options] { return check(*options); };
          }};
}

}  // namespace nkigrid::cli
