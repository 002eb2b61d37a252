#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "aggregate/statistics/interval.hpp"
#include "aggregate/statistics/lattice.hpp"
#include "aggregate/statistics/task_counts.hpp"

namespace nkigrid::aggregate {

/// Task scores, or paired task differences, as integers over one denominator, grouped by the stratum they are
/// resampled in.
struct Sample {
  std::int64_t denominator = 1;
  std::vector<std::vector<std::int64_t>> strata;  ///< none empty

  std::size_t tasks() const noexcept;
  std::int64_t sum() const noexcept;
};

/// Scores passed/replicates on the lattice of the least common multiple of all replicates.
/// @throws Error{usage} when tasks x denominator is beyond 4,194,304 points (very unequal replicates).
Sample sample_of(std::span<const TaskCount> tasks);

/// The least common multiple of all replicates. @param summed tasks that a sum runs over
/// @throws Error{usage} when summed x multiple is beyond 4,194,304 points
std::int64_t common_denominator(std::span<const TaskCount> tasks, std::size_t summed);
/// passed/replicates in units of 1/denominator.
std::int64_t scaled_score(const TaskCount& task, std::int64_t denominator) noexcept;
/// Scores by the stratum of their task. @pre equal sizes
Sample group_by_stratum(std::int64_t denominator, std::span<const TaskCount> tasks,
                        std::span<const std::int64_t> scores);

/// The exact bootstrap distribution of the sum of scores: for each stratum the n_s-th convolution power of
/// its scores' empirical distribution, strata convolved. (Every task weighs 1/n, so sums over strata just
/// add.) Point by point, with exact tails: bca_ends() needs it only for levels beyond CharacteristicSum::kSafeTail.
Lattice resampled_sum(const Sample& sample);

/// Skewness correction from the jackknife over tasks within strata,
///   a = (1/6) sum_s n_s^-3 sum_i l_si^3 / (sum_s n_s^-2 sum_i l_si^2)^(3/2),  l_si = (n_s - 1)(theta -
///   theta_(si)).
/// For the mean over tasks l_si = (n_s/n)(x_si - mean_s), so a = sum (x_si - mean_s)^3 / (6 (sum (x_si -
/// mean_s)^2)^(3/2)). 0 when no stratum varies. @source Davison & Hinkley 1997, sections 5.3 (a for several
/// samples) and 2.7.3 (jackknife influence values)
double acceleration(const Sample& sample) noexcept;

/// Where the two BCa ends stand in the distribution.
struct BcaLevels {
  Probability low, high;
};

/// Phi(z0 + (z0 + z)/(1 - a (z0 + z))) for both critical values z, z0 = Phi^-1(rank).
/// @param rank of the observed value, half of the ties below it @param a acceleration
BcaLevels bca_levels(Probability rank, double a, double confidence);

/// BCa ends as lattice points, z0 with half of the ties; none when no stratum varies.
/// @source Efron 1987, JASA 82:171; docs/decisions/intervals.md
std::optional<Range> bca_ends(const Sample& sample, double confidence);

}  // namespace nkigrid::aggregate
