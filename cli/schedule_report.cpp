#include "cli/schedule_report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "aggregate/layout/sheet.hpp"
#include "cli/terminal.hpp"
#include "cli/usage.hpp"
#include "jobs/base/notice.hpp"

namespace nkigrid::cli {
namespace {

/// Of the simulated draws; any number does, the same one every time.
constexpr std::uint64_t kSimulationSeed = 1;

std::string duration_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  if (seconds < 3600) return fmt::format("{:.1f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

/// What CLI11 asks of a check: "" or what is wrong.
std::string is_price(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (!text.empty() && *end == '\0' && std::isfinite(value) && value >= 0) return {};
  return fmt::format("'{}' is no price (a finite number of USD, 0 or more, is wanted)", text);
}

/// Row numbers in the order that a reader compares: shortest first.
std::vector<std::size_t> shortest_first(const std::vector<jobs::LayoutResult>& layouts) {
  std::vector<std::size_t> order(layouts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return layouts[a].run.makespan < layouts[b].run.makespan; });
  return order;
}

double node_hours(const jobs::SimulatedRun& run) { return run.node_seconds / 3600; }

/// A row of the layouts as `plan` prints it.
std::vector<std::string> words_of(const Schedule& schedule, std::size_t i) {
  const auto& [layout, run] = schedule.layouts[i];
  std::vector<std::string> words = {
      fmt::format("{}{}", i == 0 ? "*" : " ", schedule.can_run() && i == schedule.recommendation.index ? ">" : " "),
      fmt::to_string(layout.shards),
      layout.throttle == 0 ? "-" : fmt::to_string(layout.throttle),
      fmt::to_string(layout.nodes),
      fmt::to_string(layout.ranks_per_node),
      fmt::to_string(layout.lanes),
      duration_text(run.makespan),
      fmt::format("{:.3f}", run.makespan / run.ideal),
      fmt::format("{:.2f}", node_hours(run)),
      fmt::format("{:.0f}%", 100 * run.busy),
      fmt::format("{:.0f}%", 100 * run.cores_busy),
      duration_text(run.longest_element)};
  if (schedule.node_price) words.push_back(fmt::format("{:.2f}", node_hours(run) * *schedule.node_price));
  std::string notes = run.longest_element > schedule.limit ? "over the time limit" : "";
  if (!run.limited_by.empty()) notes += (notes.empty() ? "waits for " : ", waits for ") + run.limited_by;
  words.push_back(notes);
  return words;
}

nlohmann::ordered_json row_of(const jobs::LayoutResult& result, const Schedule& schedule) {
  const auto& [layout, run] = result;
  return {{"shards", layout.shards},
          {"throttle", layout.throttle},
          {"nodes", layout.nodes},
          {"ranks_per_node", layout.ranks_per_node},
          {"lanes", layout.lanes},
          {"makespan_s", run.makespan},
          {"ideal_s", run.ideal},
          {"longest_element_s", run.longest_element},
          {"node_hours", node_hours(run)},
          {"node_usd", schedule.node_price ? nlohmann::ordered_json(node_hours(run) * *schedule.node_price) : nullptr},
          {"busy", run.busy},
          {"cores_busy", run.cores_busy},
          {"in_time", run.longest_element <= schedule.limit},
          {"limited_by",
           run.limited_by.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(run.limited_by)}};
}

}  // namespace

void add_costs_option(CLI::App& app, std::vector<std::string>& runs) {
  app.add_option("--costs", runs,
                 "earlier runs to learn the cost of episodes from (order and balance of the work; never a result)")
      ->type_name("RUN");
}

void add_schedule_options(CLI::App& app, ScheduleOptions& options) {
  add_costs_option(app, options.costs);
  const auto list = [&](const char* name, std::vector<std::uint32_t>& values, const char* help) {
    auto* option = app.add_option(name, values, help)->delimiter(',');
    want_whole(option, 0, 1'000'000);
  };
  list("--shards", options.choices.shards, "shard counts to compare, e.g. 4,8,16");
  list("--throttle", options.choices.throttles, "elements at once to compare (0: no limit)");
  list("--ranks", options.choices.ranks_per_node, "ranks a node to compare");
  list("--lanes", options.choices.lanes, "lanes a rank to compare");
  app.add_option("--node-price", options.node_price, "USD an hour of a node, to price the layouts")
      ->type_name("USD")
      ->check(is_price);
}

namespace {

/// The grid's own layout is listed whether it can run or not, and recommended only where it can.
jobs::Recommendation recommend_among(const Schedule& schedule) {
  if (schedule.room != 0U || schedule.layouts.size() < 2) return jobs::recommend(schedule.layouts, schedule.limit);
  auto best = jobs::recommend({schedule.layouts.begin() + 1, schedule.layouts.end()}, schedule.limit);
  ++best.index;
  return best;
}

}  // namespace

Schedule make_schedule(const jobs::Grid& grid, const jobs::Benchmark& benchmark, const jobs::Plan& plan,
                       jobs::CostModel model, const ScheduleOptions& options) {
  Schedule schedule{.model = std::move(model),
                    .cells = std::vector<jobs::ExpectedCost>(plan.cells.size()),
                    .layouts = {},
                    .recommendation = {},
                    .limit = grid.slurm.time.count() - grid.slurm.warn.count(),
                    .node_price = options.node_price};
  const auto costs = jobs::expected_costs(grid, benchmark, plan, schedule.model);
  for (const auto& episode : plan.episodes) {
    const auto& cost = costs.at(episode);
    auto& sum = schedule.cells[episode.cell];
    sum.seconds += cost.seconds;
    sum.tokens_in += cost.tokens_in;
    sum.tokens_out += cost.tokens_out;
    sum.usd += cost.usd;
  }
  const jobs::RunSimulator simulator(grid, plan, costs, kSimulationSeed);
  for (auto layout : jobs::layouts_to_try(jobs::layout_of(grid), options.choices)) {
    if (layout.shards == 0 || layout.ranks_per_node == 0 || layout.lanes == 0) continue;
    const auto room = options.room ? options.room(layout) : std::nullopt;
    if (schedule.layouts.empty()) schedule.room = room;
    if (room == 0 && !schedule.layouts.empty()) continue;  // the grid's own is shown whatever it is
    layout.throttle = jobs::throttle_within_limits(grid, layout.shards, layout.throttle);  // as `submit` would
    // Elements that no node is free for wait, as behind a throttle.
    if (room.value_or(0) > 0 && *room < layout.elements_at_once()) layout.throttle = *room;
    if (std::any_of(schedule.layouts.begin(), schedule.layouts.end(),
                    [&](const auto& l) { return l.layout == layout; }))
      continue;
    schedule.layouts.push_back({layout, simulator.simulate(layout)});
  }
  schedule.recommendation = recommend_among(schedule);
  if (schedule.can_run()) return schedule;
  schedule.recommendation.reason =
      "no layout: the partition's nodes bear not one element of this size; lower slurm.nodes, ranks_per_node, "
      "cpus_per_rank or mem, or name another slurm.partition";
  return schedule;
}

std::string basis_text(const jobs::CostModel& model) {
  if (!model.learnt())
    return "guessed (nothing is measured yet: every episode is taken to use all its turns, and times and tokens are a "
           "prior's; --costs RUN learns them from an earlier run)";
  return fmt::format("learnt from {} episodes of {} earlier run{}", model.episodes, model.runs.size(),
                     model.runs.size() == 1 ? "" : "s");
}

std::string schedule_as_json(const Schedule& schedule) {
  nlohmann::ordered_json out;
  out["layouts"] = nlohmann::ordered_json::array();
  for (const auto& result : schedule.layouts) out["layouts"].push_back(row_of(result, schedule));
  out["time_limit_s"] = schedule.limit;
  out["elements_that_fit"] = schedule.room ? nlohmann::ordered_json(*schedule.room) : nlohmann::ordered_json(nullptr);
  out["recommended"] =
      schedule.can_run() ? nlohmann::ordered_json(schedule.recommendation.index) : nlohmann::ordered_json();
  out["reason"] = schedule.recommendation.reason;
  return out.dump();
}

void print_schedule(const Schedule& schedule) {
  const auto columns = terminal_columns(STDOUT_FILENO);
  aggregate::Sheet sheet;
  sheet.caption = fmt::format("time by layout, {}, shortest first",
                              schedule.model.learnt() ? basis_text(schedule.model) : "guessed");
  sheet.columns = {{""}};
  for (const auto* head : {"shards", "throttle", "nodes", "ranks", "lanes", "makespan", "/ideal", "node hours", "busy",
                           "cores", "element"})
    sheet.columns.push_back({head, aggregate::Align::right});
  if (schedule.node_price) sheet.columns.push_back({"node USD", aggregate::Align::right});
  sheet.columns.push_back({"notes"});
  for (const auto i : shortest_first(schedule.layouts)) sheet.rows.push_back(words_of(schedule, i));
  sheet.notes = {
      fmt::format("*: as the grid says; >: recommended. nodes: of an element (a shard); ranks: of a node; "
                  "lanes: of a rank. makespan: from the first element's start to the last one's end, "
                  "without waits in Slurm's queue; /ideal: over the least that these lanes and cores "
                  "allow; busy, cores: share of the lanes' and the cores' time in use; element: the "
                  "longest one, which has slurm.time less slurm.warn, {}",
                  duration_text(schedule.limit))};
  if (schedule.room)
    sheet.notes.push_back(fmt::format(
        "the partition's nodes bear {} element{} of the grid's own size at once: no layout has more at work",
        *schedule.room, *schedule.room == 1 ? "" : "s"));
  if (!schedule.can_run()) {
    sheet.notes.push_back("recommended: " + schedule.recommendation.reason);
    return say("\n{}", sheet_as_text(sheet, columns));
  }
  const auto& best = schedule.layouts[schedule.recommendation.index].layout;
  sheet.notes.push_back(fmt::format(
      "recommended: slurm: {{shards: {}, throttle: {}, nodes: {}, ranks_per_node: {}}}, lanes: {} ({})", best.shards,
      best.throttle, best.nodes, best.ranks_per_node, best.lanes, schedule.recommendation.reason));
  say("\n{}", sheet_as_text(sheet, columns));
}

}  // namespace nkigrid::cli
