#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aggregate/statistics/power.hpp"
#include "aggregate/statistics/power_model.hpp"
#include "aggregate/tables/population.hpp"
#include "jobs/plan.hpp"

namespace nkigrid::aggregate {

/// What is assumed before anything was measured: ours, near the paper's open models on 150 tasks.
struct VariancePrior {
  double rate = 0.2;                ///< pass rate of either cell
  double share_of_tasks = 1.0 / 3;  ///< of an episode's variance (intraclass correlation)
  double correlation = 0.5;         ///< of the two cells' true pass probabilities over tasks
};

struct PowerOptions {
  PowerGoal goal;
  double difference = 0.05;  ///< that one wants to see
  VariancePrior prior;
};

/// What one comparison of a grid can show: by the test that `pairs` prints (power_model.hpp) unless said otherwise.
struct PowerRow {
  std::string contrast, a, b;
  std::string basis;  ///< pilot; pilot-total (one replicate: split as the prior says); prior
  PairedDesign design;
  PairModel model;  ///< that the design's variances and the rates come from
  std::optional<double> between_upper =
      {};                   ///< of a pilot: 90 % upper bound of design.between_tasks, which may be 0 by chance
  std::uint32_t draws = 0;  ///< simulated grids; 0: exact
  std::optional<double> smallest = {};  ///< difference shown at the goal's alpha and power; none: no difference is
  std::optional<double> smallest_in_family =
      {};                      ///< the same at alpha divided by the number of comparisons: Holm's worst case
  double smallest_normal = 0;  ///< by the normal approximation
  double smallest_ever =
      0;             ///< with replicates without end, by the normal approximation from `smallest` and between_upper
  double power = 0;  ///< for the wanted difference
  std::optional<std::uint64_t> replicates_needed =
      {};                              ///< none: no number is sure to show the wanted difference on these tasks
  bool replicates_might_help = false;  ///< none is sure, by between_upper, yet the estimate itself leaves hope
  std::uint64_t tasks_needed = 0;      ///< with the grid's replicates
  double noise_share = 0;              ///< of the squared error, due to replicates
};

/// The confidence of PowerRow::between_upper, one-sided.
inline constexpr double kPilotConfidence = 0.9;

/// One row for each two cells that the grid's contrasts compare, over all shared tasks. Variances come from
/// the pilot's cells of the same ids, else from the mean over those of its comparisons that could be
/// measured, else from the prior. Two cells that never differ measure nothing.
std::vector<PowerRow> plan_power(const jobs::Grid& grid, const jobs::Plan& plan, const ReadRun* pilot,
                                 const PowerOptions& options = {});

}  // namespace nkigrid::aggregate
