#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "aggregate/statistics/pair_power.hpp"
#include "aggregate/statistics/pair_variances.hpp"
#include "aggregate/statistics/power.hpp"

namespace nkigrid::aggregate {

struct PowerOptions {
  PowerGoal goal;
  double difference = 0.05;  ///< that one wants to see
  VariancePrior prior;
  PValue test = PValue::mid;  ///< whose power it is
};

/// What one comparison can show: by the test that `pairs` prints (pair_power.hpp) unless said otherwise.
struct PowerForecast {
  PairedDesign design;
  PairChances chances;  ///< that the design's variances and the rates come from
  std::optional<double> between_upper =
      {};                               ///< of a pilot: upper bound of design.between_tasks, which may be 0 by chance
  std::uint32_t draws = 0;              ///< simulated grids; 0: exact
  std::optional<double> smallest = {};  ///< difference shown at the goal's alpha and power; none: no difference is
  /// The same at alpha divided by the number of comparisons: Holm's worst case.
  std::optional<double> smallest_in_family = {};
  double smallest_normal = 0;  ///< by the normal approximation
  /// With replicates without end, by the normal approximation from `smallest` and between_upper; none where the test
  /// cannot reach alpha with so few tasks, or no difference is as large.
  std::optional<double> smallest_ever = {};
  double power = 0;  ///< for the wanted difference
  /// None: no number is sure to show the wanted difference on these tasks.
  std::optional<std::uint64_t> replicates_needed = {};
  bool replicates_might_help = false;  ///< none is sure, by between_upper, yet the estimate itself leaves hope
  std::uint64_t tasks_needed = 0;      ///< with the grid's replicates
  double noise_share = 0;              ///< of the squared error, due to replicates
};

/// How many comparisons there are, and how many of them differ in design: those that agree need one simulation.
struct Comparisons {
  std::size_t all = 1, designs = 1;
};

/// What the test itself shows of a design: all that simulation gives.
struct TestedDesign {
  std::optional<double> smallest, smallest_in_family;
  double power = 0;
  std::uint32_t draws = 0;
  std::uint64_t tasks_needed = 0;
};

/// Simulates (or computes, with one replicate) the test; so many draws that a grid of any size is forecast in seconds.
TestedDesign test_design(const PairedDesign& design, const PairChances& chances, const Comparisons& comparisons,
                         const PowerOptions& options);

/// Fills the rest of a forecast from its design, chances and between_upper.
void add_forecast(PowerForecast& forecast, const TestedDesign& tested, const PowerOptions& options);

}  // namespace nkigrid::aggregate
