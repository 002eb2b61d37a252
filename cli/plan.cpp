#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "aggregate/layout/sheet.hpp"
#include "cli/grids.hpp"
#include "cli/json_text.hpp"
#include "cli/power_report.hpp"
#include "cli/schedule_report.hpp"
#include "cli/schedulers.hpp"
#include "cli/set_option.hpp"
#include "cli/terminal.hpp"
#include "cli/usage.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/forecast/forecast.hpp"
#include "jobs/make_plan.hpp"
#include "runner/log/costs.hpp"

namespace nkigrid::cli {
namespace {

struct PlanOptions {
  std::string grid, pilot, test = "mid-p";
  std::vector<std::string> sets;
  double difference = 5;
  bool json = false;
  ScheduleOptions schedule;
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

nlohmann::ordered_json to_json(const jobs::CellForecast& most, const jobs::ExpectedCost& expected) {
  auto json = to_json(most);
  json["expected"] = {{"seconds", expected.seconds},
                      {"tokens_in", expected.tokens_in},
                      {"tokens_out", expected.tokens_out},
                      {"usd", most.usd ? nlohmann::ordered_json(expected.usd) : nullptr}};
  return json;
}

jobs::ExpectedCost sum_of(const std::vector<jobs::ExpectedCost>& cells) {
  jobs::ExpectedCost all;
  for (const auto& cell : cells) {
    all.seconds += cell.seconds;
    all.tokens_in += cell.tokens_in;
    all.tokens_out += cell.tokens_out;
    all.usd += cell.usd;
  }
  return all;
}

void print_json(const std::string& hash, const jobs::Plan& plan, const std::vector<jobs::CellForecast>& cells,
                const Schedule& schedule, const std::string& power) {
  nlohmann::ordered_json out = {
      {"version", 1},
      {"grid_hash", hash},
      {"shards", plan.shards},
      {"basis", schedule.model.learnt() ? "learnt" : "prior"},
      {"learnt_from", {{"episodes", schedule.model.episodes}, {"runs", schedule.model.runs}}}};
  out["cells"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < cells.size(); ++i) out["cells"].push_back(to_json(cells[i], schedule.cells[i]));
  out["all"] = to_json(total_of(cells), sum_of(schedule.cells));
  out["schedule"] = nlohmann::ordered_json::parse(schedule_as_json(schedule));
  out["power"] = nlohmann::ordered_json::parse(power);
  fmt::print("{}", json_text(out));
}

std::vector<std::string> row_of(const jobs::CellForecast& cell, const jobs::ExpectedCost& expected) {
  const auto usd = [&](double value) { return cell.usd ? fmt::format("{:.2f}", value) : std::string("-"); };
  return {cell.cell,
          fmt::to_string(cell.episodes),
          fmt::to_string(cell.requests),
          fmt::format("{:.2f}", cell.tokens_in / 1e6),
          fmt::format("{:.2f}", cell.tokens_out / 1e6),
          usd(cell.usd.value_or(0)),
          fmt::format("{:.2f}", expected.seconds / 3600),
          usd(expected.usd)};
}

void print_table(const jobs::Grid& grid, const jobs::Plan& plan, const std::vector<jobs::CellForecast>& cells,
                 const Schedule& schedule) {
  aggregate::Sheet sheet;
  sheet.caption = fmt::format("{}: {} episodes in {} shard{}", grid.name, plan.episodes.size(), plan.shards,
                              plan.shards == 1 ? "" : "s");
  sheet.columns = {{"cell"}};
  for (const auto* head : {"episodes", "requests", "Mtok in", "Mtok out", "USD", "lane hours", "exp. USD"})
    sheet.columns.push_back({head, aggregate::Align::right});
  for (std::size_t i = 0; i < cells.size(); ++i) sheet.rows.push_back(row_of(cells[i], schedule.cells[i]));
  sheet.rows.push_back(row_of(total_of(cells), sum_of(schedule.cells)));
  sheet.notes = {
      fmt::format("requests, Mtok and USD: at most, when every episode takes all its turns; lane hours and "
                  "exp. USD: {}",
                  basis_text(schedule.model))};
  say("{}", sheet_as_text(sheet, terminal_columns(STDOUT_FILENO)));
}

/// Asks the cluster, where there is one and the grid speaks of it.
std::function<std::optional<std::uint32_t>(const jobs::Layout&)> room_on(jobs::Scheduler& scheduler,
                                                                         const jobs::Grid& grid) {
  if (!grid.slurm.given) return {};
  return [&scheduler, &grid](const jobs::Layout& layout) {
    auto other = grid;
    other.slurm.nodes = layout.nodes;
    other.slurm.ranks_per_node = layout.ranks_per_node;
    return scheduler.room(other);
  };
}

ExitCode plan(const PlanOptions& options) {
  if (!(options.difference > 0 && options.difference < 100))
    throw Error(ErrorCode::usage,
                fmt::format("--difference is {:g} (above 0 and below 100 points is wanted)", options.difference));
  if (options.test != "mid-p" && options.test != "exact")
    throw Error(ErrorCode::usage,
                fmt::format("unknown word '{}' of --test (legal: mid-p, exact); choose one of these", options.test));
  const auto grid = open_grid(options.grid, options.sets);
  const auto benchmark = benchmark_of(grid);
  auto costs = log::learn_costs(options.schedule.costs.empty() && !options.pilot.empty() ? std::vector{options.pilot}
                                                                                         : options.schedule.costs);
  const auto plan = jobs::make_plan(grid, benchmark, {}, costs);
  const auto cells = jobs::forecast(grid, benchmark, plan);
  const auto scheduler = site_scheduler();
  auto time = options.schedule;
  time.room = room_on(*scheduler, grid);
  const auto schedule = make_schedule(grid, benchmark, plan, std::move(costs), time);
  const auto pilot = read_pilot(options.pilot);
  aggregate::PowerOptions wanted;
  wanted.difference = options.difference / 100;
  wanted.test = options.test == "exact" ? aggregate::PValue::exact : aggregate::PValue::mid;
  const auto power = aggregate::plan_power(grid, plan, pilot ? &*pilot : nullptr, wanted);
  if (options.json) {
    print_json(jobs::grid_hash(plan), plan, cells, schedule, power_as_json(power, wanted));
  } else {
    print_table(grid, plan, cells, schedule);
    print_schedule(schedule);
    print_power(power, wanted);
  }
  return ExitCode::done;
}

}  // namespace

Verb plan_verb() {
  return {"plan", "forecasts a grid: episodes, cost, time by layout, and the differences it can show",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<PlanOptions>();
            app.add_option("grid", options->grid, "grid file")->required()->type_name("GRID");
            app.add_flag("--json", options->json, "machine-readable");
            add_set_option(app, options->sets);
            app.add_option("--pilot", options->pilot,
                           "an earlier run whose variances replace the prior's in the forecast of visible differences; "
                           "costs are learnt from it too, where "
                           "--costs names no other")
                ->type_name("RUN");
            want_number(
                app.add_option("--difference", options->difference, "the difference that one wants to see, in points")
                    ->capture_default_str(),
                "POINTS");
            app.add_option(
                   "--test", options->test,
                   "whose power is forecast, as `tables --test` has it: mid-p, or exact (never above its level)")
                ->type_name("HOW")
                ->capture_default_str();
            add_schedule_options(app, options->schedule);
            return [options] { return plan(*options); };
          }};
}

}  // namespace nkigrid::cli
