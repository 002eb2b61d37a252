#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "jobs/forecast/costs.hpp"
#include "jobs/forecast/layouts.hpp"

namespace CLI {
class App;
}

namespace nkigrid::cli {

/// `--costs RUN...` of plan, submit and run.
void add_costs_option(CLI::App& app, std::vector<std::string>& runs);

struct ScheduleOptions {
  std::vector<std::string> costs;  ///< runs to learn from
  jobs::LayoutChoices choices;
  std::optional<double> node_price;  ///< USD an hour
  /// How many elements of a layout the cluster's nodes bear at once; nothing where it cannot be asked, or empty.
  std::function<std::optional<std::uint32_t>(const jobs::Layout&)> room;
};

void add_schedule_options(CLI::App& app, ScheduleOptions& options);

/// What `plan` says of time: expected cost by cell, layouts side by side, and the one to take.
struct Schedule {
  jobs::CostModel model;
  std::vector<jobs::ExpectedCost> cells;  ///< sums, parallel to plan.cells
  std::vector<jobs::LayoutResult> layouts;
  jobs::Recommendation recommendation;
  double limit = 0;  ///< of an element [s]
  std::optional<double> node_price;
  std::optional<std::uint32_t> room;  ///< ScheduleOptions::room of the grid's own layout
  /// False where the cluster's nodes bear no element of any layout listed: nothing is recommended.
  bool can_run() const noexcept { return room != 0U || layouts.size() > 1; }
};

Schedule make_schedule(const jobs::Grid& grid, const jobs::Benchmark& benchmark, const jobs::Plan& plan,
                       jobs::CostModel model, const ScheduleOptions& options);

std::string basis_text(const jobs::CostModel& model);
/// The text of a JSON object, for the key `schedule` of `plan --json`.
std::string schedule_as_json(const Schedule& schedule);
void print_schedule(const Schedule& schedule);

}  // namespace nkigrid::cli
