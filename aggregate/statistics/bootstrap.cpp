#include "aggregate/statistics/bootstrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "aggregate/statistics/characteristic.hpp"
#include "aggregate/statistics/normal.hpp"
#include "jobs/base/error.hpp"

namespace nkigrid::aggregate {
namespace {

constexpr std::int64_t kMaxPoints = 1 << 22;
constexpr double kMaxDirectProducts = 3e8;  // about 0.3 s: what a tail beyond CharacteristicSum's reach may cost

// Sum over tasks of (x - mean of its stratum)^power, in lattice units.
double central_sum(const Sample& sample, int power) noexcept {
  double total = 0;
  for (const auto& stratum : sample.strata) {
    const double mean = static_cast<double>(std::accumulate(stratum.begin(), stratum.end(), std::int64_t{0})) /
                        static_cast<double>(stratum.size());
    for (const auto value : stratum) total += std::pow(static_cast<double>(value) - mean, power);
  }
  return total;
}

bool varies(const Sample& sample) noexcept {
  return std::any_of(sample.strata.begin(), sample.strata.end(), [](const auto& stratum) {
    return std::any_of(stratum.begin(), stratum.end(), [&](auto value) { return value != stratum.front(); });
  });
}

// Products that direct powering takes at most: the square of the result's width, half of it by symmetry.
double direct_products(const Sample& sample) {
  const double width = 24 * std::sqrt(central_sum(sample, 2)) + 1;
  return width * width / 2;
}

std::vector<Summand> summands_of(const Sample& sample) {
  std::vector<Summand> summands;
  for (const auto& stratum : sample.strata) {
    std::map<std::int64_t, std::size_t> counts;
    for (const auto value : stratum) ++counts[value];
    Summand summand{{}, {}, stratum.size()};
    for (const auto& [value, count] : counts) {
      summand.values.push_back(value);
      summand.weights.push_back(static_cast<double>(count) / static_cast<double>(stratum.size()));
    }
    summands.push_back(std::move(summand));
  }
  return summands;
}

bool within_reach(Probability p) noexcept { return std::min(p.below, p.above) >= CharacteristicSum::kSafeTail; }

Probability bca_level(double z0, double a, double z) noexcept {
  const double shifted = z0 + z;
  const double scale = 1 - a * shifted;
  // As a (z0 + z) grows to 1 the level runs into 0 or 1; past it the formula would come back from the other
  // side.
  if (scale <= 0) return shifted > 0 ? Probability{1, 0} : Probability{0, 1};
  return normal_cdf(z0 + shifted / scale);
}

}  // namespace

std::int64_t common_denominator(std::span<const TaskCount> tasks, std::size_t summed) {
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(summed, 1));
  std::int64_t multiple = 1;
  for (const auto& task : tasks) {
    multiple = std::lcm(multiple, static_cast<std::int64_t>(task.replicates));
    if (multiple > kMaxPoints / count) {
      throw Error{ErrorCode::usage,
                  fmt::format("cannot compute the exact interval of {} tasks (their replicates have no common multiple "
                              "under {}, the limit); finish the run, or make the replicates equal",
                              summed, kMaxPoints / count)};
    }
  }
  return multiple;
}

std::int64_t scaled_score(const TaskCount& task, std::int64_t denominator) noexcept {
  return static_cast<std::int64_t>(task.passed) * (denominator / static_cast<std::int64_t>(task.replicates));
}

Sample group_by_stratum(std::int64_t denominator, std::span<const TaskCount> tasks,
                        std::span<const std::int64_t> scores) {
  std::map<std::uint32_t, std::vector<std::int64_t>> strata;
  for (std::size_t i = 0; i < tasks.size(); ++i) strata[tasks[i].stratum].push_back(scores[i]);
  Sample sample{denominator, {}};
  for (auto& [number, values] : strata) sample.strata.push_back(std::move(values));
  return sample;
}

std::size_t Sample::tasks() const noexcept {
  std::size_t count = 0;
  for (const auto& stratum : strata) count += stratum.size();
  return count;
}

std::int64_t Sample::sum() const noexcept {
  std::int64_t total = 0;
  for (const auto& stratum : strata) total = std::accumulate(stratum.begin(), stratum.end(), total);
  return total;
}

Sample sample_of(std::span<const TaskCount> tasks) {
  const auto denominator = common_denominator(tasks, tasks.size());
  std::vector<std::int64_t> scores;
  for (const auto& task : tasks) scores.push_back(scaled_score(task, denominator));
  return group_by_stratum(denominator, tasks, scores);
}

Lattice resampled_sum(const Sample& sample) {
  Lattice sum{0, {1.0}};
  for (const auto& stratum : sample.strata) sum = convolve(sum, convolution_power(empirical(stratum), stratum.size()));
  return sum;
}

double acceleration(const Sample& sample) noexcept {
  if (!varies(sample)) return 0;
  return central_sum(sample, 3) / (6 * std::pow(central_sum(sample, 2), 1.5));
}

BcaLevels bca_levels(Probability rank, double a, double confidence) {
  const double z0 = normal_quantile(rank), z = critical_value(confidence);
  return {bca_level(z0, a, -z), bca_level(z0, a, z)};
}

namespace {

Range on_scale(const Sample& sample, std::int64_t low, std::int64_t high) {
  const double unit = static_cast<double>(sample.denominator) * static_cast<double>(sample.tasks());
  return {static_cast<double>(low) / unit, static_cast<double>(high) / unit};
}

Range ends_at(const Sample& sample, const Lattice& sums, const BcaLevels& levels) {
  return on_scale(sample, quantile(sums, levels.low), quantile(sums, levels.high));
}

}  // namespace

std::optional<Range> bca_ends(const Sample& sample, double confidence) {
  if (!varies(sample)) return std::nullopt;
  const double a = acceleration(sample);
  const CharacteristicSum quick(summands_of(sample));
  if (const auto rank = quick.mid_rank(sample.sum()); within_reach(rank)) {
    const auto levels = bca_levels(rank, a, confidence);
    if (within_reach(levels.low) && within_reach(levels.high))
      return on_scale(sample, quick.quantile(levels.low.below), quick.quantile(levels.high.below));
  }
  if (direct_products(sample) > kMaxDirectProducts) {
    throw Error{ErrorCode::usage,
                fmt::format("cannot compute an interval at level {} of {} tasks on a lattice of {}ths (its tails "
                            "would take too long); make the replicates equal, or the level smaller",
                            confidence, sample.tasks(), sample.denominator)};
  }
  const auto sums = resampled_sum(sample);
  return ends_at(sample, sums, bca_levels(mid_rank(sums, sample.sum()), a, confidence));
}

}  // namespace nkigrid::aggregate
