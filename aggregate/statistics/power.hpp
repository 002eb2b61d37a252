#pragma once

#include <cstdint>
#include <optional>

#include "aggregate/statistics/paired.hpp"

namespace nkigrid::aggregate {

/// What a test is asked for.
struct PowerGoal {
  double alpha = 0.05;  ///< two-sided
  double power = 0.8;
};

/// Chance that the McNemar test on n tasks, each run once in both cells, reaches alpha.
/// @param difference rate a - rate b @param discordance share of tasks on which the cells differ, >=
/// |difference|
double mcnemar_power(double difference, double discordance, std::uint64_t n, double alpha = 0.05,
                     PValue kind = PValue::mid);

/// What a paired comparison depends on.
struct PairedDesign {
  double tasks = 0;                           ///< n
  double between_tasks = 0;                   ///< omega^2 of the true paired difference
  double noise_a = 0, noise_b = 0;            ///< sigma^2 of one replicate of either cell
  double replicates_a = 1, replicates_b = 1;  ///< K; may be infinite
};

/// Standard error of the mean paired difference, sqrt((omega^2 + sigma_a^2/K_a + sigma_b^2/K_b)/n).
double paired_error(const PairedDesign& design) noexcept;

/// The smallest difference that such a grid shows by the normal approximation, (z_(alpha/2) + z_power) paired_error():
/// below that of the test itself where tasks are few (pair_power.hpp).
/// @source Miller 2024, arXiv 2411.00640, section 5
double smallest_difference(const PairedDesign& design, const PowerGoal& goal = {});

/// Replicates a cell (the same for both) from which on a difference is shown; none when no number is enough. By the
/// normal approximation, scaled from what the design shows: the squared difference goes as the squared error.
/// @param shown the smallest difference that the design itself shows
std::optional<std::uint64_t> replicates_needed(const PairedDesign& design, double difference, double shown);

/// Tasks from which on a difference is shown with the design's replicates; as replicates_needed().
std::uint64_t tasks_needed(const PairedDesign& design, double difference, double shown);

}  // namespace nkigrid::aggregate
