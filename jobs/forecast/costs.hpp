#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/forecast/forecast.hpp"
#include "jobs/plan.hpp"

/// What an episode is expected to take. Nothing of a result depends on it: it orders and spreads work, and forecasts
/// it.
namespace nkigrid::jobs {

/// How one quantity of an episode differs from its prior, on a log scale: the middle of its distribution is
/// prior x exp(common + model + mode + cell + level + task). A name that was never seen has the effect 0, so a new
/// prompt of a known model and mode is expected to cost what that model and mode cost.
struct CostEffects {
  using Effects = std::map<std::string, double, std::less<>>;
  double common = 0;
  Effects model, mode, cell, level, task;
  /// What remains between episodes of one (cell, task): logs of equally likely factors, ascending. Their mean factor
  /// leads from the middle to the mean. @source Duan, "Smearing estimate", JASA 78 (1983), with residuals gathered into
  /// bins
  std::vector<double> noise;

  double mean_factor() const;  ///< mean of exp(noise); 1 without noise
};

/// Costs learnt from earlier episodes (log::fit_costs), or nothing learnt: then all is prior.
struct CostModel {
  CostEffects seconds, tokens_in, tokens_out;
  std::map<std::string, double, std::less<>>
      endpoint_share;             ///< model -> share of an episode's seconds spent at the endpoint
  std::uint64_t episodes = 0;     ///< that it was learnt from
  std::vector<std::string> runs;  ///< their runs, for a reader
  bool learnt() const noexcept { return episodes > 0; }
};

/// Before anything is measured. The figures are ours, guesses to be replaced by fitted costs.
struct TimePrior {
  double tokens_per_second = 50;    ///< of one reply of an endpoint that serves many
  double check_seconds = 5;         ///< compile and verify of a turn
  double synthetic_seconds = 0.01;  ///< of a synthetic model's turn budget on the simulator, a turn: most are not taken
  double noise_sigma =
      0.7;  ///< of the log of an episode's seconds: about one in twenty takes more than three times the middle
  double endpoint_share = 0.8;  ///< of an episode's seconds, where the model has an endpoint
};

/// Seconds of one episode before anything is measured: turn budget x level (L2 fuses several operations, L3 is a part
/// of a model) x a turn's seconds.
double prior_seconds(const ModelSpec& model, const ModeSpec& mode, std::string_view level, const TimePrior& prior = {});

struct ExpectedCost {
  double seconds = 0, tokens_in = 0, tokens_out = 0;
  double usd = 0;  ///< 0 where the model has no price
};

/// The expected (mean) cost of each (cell, task) of a plan.
struct CostTable {
  std::vector<ExpectedCost> costs;     ///< cells x tasks, row-major; zeros where the cell has not the task
  std::vector<double> factors;         ///< equally likely factors on an episode's expected seconds; their mean is 1
  std::vector<double> endpoint_share;  ///< a cell's share of seconds at its endpoint; 0: it has none
  std::size_t tasks = 0;
  bool learnt = false;  ///< from episodes that ran; else by the prior alone

  const ExpectedCost& at(const PlannedEpisode& episode) const { return costs[episode.cell * tasks + episode.task]; }
};

CostTable expected_costs(const Grid& grid, const Benchmark& benchmark, const Plan& plan, const CostModel& model,
                         const TimePrior& prior = {});

/// The middle (median) cost of each (cell, task), without prices {cells x tasks, row-major}: what a fit measures
/// deviations from.
std::vector<ExpectedCost> middle_costs(const Grid& grid, const Benchmark& benchmark, const Plan& plan,
                                       const CostModel& model, const TimePrior& prior = {});

/// Expected seconds alone {cells x tasks, row-major}: what dealing needs.
std::vector<double> expected_seconds(const Grid& grid, const Plan& plan, const CostModel& model);

/// RUN/plan/costs.json (docs/formats/run_directory.md).
std::string to_json(const CostModel& model);
/// @throws Error{corrupt} naming `file`
CostModel costs_from_json(const std::string& text, const std::filesystem::path& file);

}  // namespace nkigrid::jobs
