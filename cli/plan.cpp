#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/forecast.hpp"

namespace nkigrid::cli {
namespace {

struct Options {
  std::string grid;
  bool json = false, power = false;
};

jobs::CellForecast total_of(const std::vector<jobs::CellForecast>& cells) {
  jobs::CellForecast total;
  total.cell = "all";
  for (const auto& cell : cells) {
    total.episodes += cell.episodes;
    total.requests += cell.requests;
    total.tokens_in += cell.tokens_in;
    total.tokens_out += cell.tokens_out;
    if (cell.usd) total.usd = total.usd.value_or(0) + *cell.usd;
  }
  return total;
}

nlohmann::ordered_json to_json(const jobs::CellForecast& cell) {
  return {{"cell", cell.cell},
          {"episodes", cell.episodes},
          {"requests_at_most", cell.requests},
          {"tokens_in_at_most", cell.tokens_in},
          {"tokens_out_at_most", cell.tokens_out},
          {"usd_at_most", cell.usd ? nlohmann::ordered_json(*cell.usd) : nullptr}};
}

void print_json(const std::string& hash, const jobs::Plan& plan,
                const std::vector<jobs::CellForecast>& cells) {
  nlohmann::ordered_json out = {
      {"version", 1}, {"grid_hash", hash}, {"shards", plan.shards}, {"basis", "prior"}};
  out["cells"] = nlohmann::ordered_json::array();
  for (const auto& cell : cells) out["cells"].push_back(to_json(cell));
  out["all"] = to_json(total_of(cells));
  fmt::print("{}\n", out.dump(1));
}

void print_row(const jobs::CellForecast& cell, std::size_t width) {
  const auto usd = cell.usd ? fmt::format("{:.2f}", *cell.usd) : std::string("-");
  fmt::print("{:<{}}  {:>9}  {:>9}  {:>9.2f}  {:>9.2f}  {:>10}\n", cell.cell, width, cell.episodes,
             cell.requests, cell.tokens_in / 1e6, cell.tokens_out / 1e6, usd);
}

void print_table(const jobs::Grid& grid, const jobs::Plan& plan,
                 const std::vector<jobs::CellForecast>& cells) {
  std::size_t width = 4;
  for (const auto& cell : cells) width = std::max(width, cell.cell.size());
  fmt::print("{}: {} episodes in {} shards; at most, by a prior (nothing is measured yet)\n", grid.name,
             plan.episodes.size(), plan.shards);
  fmt::print("{:<{}}  {:>9}  {:>9}  {:>9}  {:>9}  {:>10}\n", "cell", width, "episodes", "requests", "Mtok in",
             "Mtok out", "USD");
  for (const auto& cell : cells) print_row(cell, width);
  print_row(total_of(cells), width);
}

int plan(const Options& options) {
  if (options.power) {
    throw Error(ErrorCode::usage,
                "--power is not in this version (it comes with the statistics); leave it out to see "
                "episodes, requests and cost");
  }
  const auto grid = jobs::load_grid(options.grid, jobs::configs_folder());
  const auto benchmark = jobs::load_benchmark(grid.benchmark);
  const auto plan = jobs::make_plan(grid, benchmark);
  const auto cells = jobs::forecast(grid, benchmark, plan);
  if (options.json) {
    print_json(jobs::grid_hash(plan), plan, cells);
  } else {
    print_table(grid, plan, cells);
    fmt::print(
        stderr,
        "what difference this grid can see is not forecast in this version; it comes with the statistics\n");
  }
  return 0;
}

}  // namespace

Verb plan_verb() {
  return {"plan", "forecasts a grid: episodes, requests and cost at most", [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            app.add_option("grid", options->grid, "grid file")->required()->type_name("GRID");
            app.add_flag("--json", options->json, "machine-readable");
            app.add_flag("--power", options->power, "what difference the grid can see (not in this version)");
            return [options] { return plan(*options); };
          }};
}

}  // namespace nkigrid::cli
