#include "aggregate/bootstrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "aggregate/fourier.hpp"
#include "aggregate/normal.hpp"
#include "jobs/base/error.hpp"

namespace nkigrid::aggregate {
namespace {

constexpr std::int64_t kMaxPoints = 1 << 22;
constexpr double kMaxDirectProducts = 3e8;  // about 0.3 s; beyond it the Fourier form is quicker

std::int64_t common_denominator(std::span<const TaskCount> tasks, std::int64_t so_far = 1) {
  const auto count = std::max<std::int64_t>(static_cast<std::int64_t>(tasks.size()), 1);
  for (const auto& task : tasks) {
    so_far = std::lcm(so_far, static_cast<std::int64_t>(task.replicates));
    if (so_far > kMaxPoints / count) {
      throw Error{
          ErrorCode::usage,
          fmt::format(
              "cannot compute the exact interval of {} tasks (their replicates have no common multiple "
              "under {}, the limit); finish the run, or make the replicates equal",
              tasks.size(), kMaxPoints / count)};
    }
  }
  return so_far;
}

std::int64_t scaled(const TaskCount& task, std::int64_t denominator) {
  return static_cast<std::int64_t>(task.passed) * (denominator / static_cast<std::int64_t>(task.replicates));
}

Sample group(std::int64_t denominator, std::span<const TaskCount> tasks,
             const std::vector<std::int64_t>& scores) {
  std::map<std::uint32_t, std::vector<std::int64_t>> strata;
  for (std::size_t i = 0; i < tasks.size(); ++i) strata[tasks[i].stratum].push_back(scores[i]);
  Sample sample{denominator, {}};
  for (auto& [number, values] : strata) sample.strata.push_back(std::move(values));
  return sample;
}

// Sum over tasks of (x - mean of its stratum)^power, in lattice units.
double central_sum(const Sample& sample, int power) noexcept {
  double total = 0;
  for (const auto& stratum : sample.strata) {
    const double mean =
        static_cast<double>(std::accumulate(stratum.begin(), stratum.end(), std::int64_t{0})) /
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

// Products that direct powering takes: about a quarter of the square of the result's width, 24 standard
// deviations at most.
double direct_products(const Sample& sample, const std::vector<Power>& factors) {
  double width = 1;
  for (const auto& factor : factors) width += static_cast<double>(factor.n * (factor.base.mass.size() - 1));
  width = std::min(width, 24 * std::sqrt(central_sum(sample, 2)) + 1);
  return width * width / 2;
}

Probability bca_level(double z0, double a, double z) noexcept {
  const double shifted = z0 + z;
  const double scale = 1 - a * shifted;
  // As a (z0 + z) grows to 1 the level runs into 0 or 1; past it the formula would come back from the other
  // side.
  if (scale <= 0) return shifted > 0 ? Probability{1, 0} : Probability{0, 1};
  return normal_cdf(z0 + shifted / scale);
}

}  // namespace

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
  const auto denominator = common_denominator(tasks);
  std::vector<std::int64_t> scores;
  for (const auto& task : tasks) scores.push_back(scaled(task, denominator));
  return group(denominator, tasks, scores);
}

Sample difference_sample(std::span<const TaskCount> a, std::span<const TaskCount> b) {
  const auto denominator = common_denominator(b, common_denominator(a));
  std::vector<std::int64_t> differences;
  for (std::size_t i = 0; i < a.size(); ++i)
    differences.push_back(scaled(a[i], denominator) - scaled(b[i], denominator));
  return group(denominator, a, differences);
}

Lattice resampled_sum(const Sample& sample) {
  std::vector<Power> factors;
  for (const auto& stratum : sample.strata) factors.push_back({empirical(stratum), stratum.size()});
  if (direct_products(sample, factors) > kMaxDirectProducts) return power_product_by_fourier(factors);
  Lattice sum{0, {1.0}};
  for (const auto& factor : factors) sum = convolve(sum, power(factor.base, factor.n));
  return sum;
}

double acceleration(const Sample& sample) noexcept {
  if (!varies(sample)) return 0;
  return central_sum(sample, 3) / (6 * std::pow(central_sum(sample, 2), 1.5));
}

namespace {

Ends ends_at(const Sample& sample, const Lattice& sums, Probability low, Probability high) {
  const double unit = static_cast<double>(sample.denominator) * static_cast<double>(sample.tasks());
  return {static_cast<double>(quantile(sums, low)) / unit, static_cast<double>(quantile(sums, high)) / unit};
}

}  // namespace

Ends percentile_ends(const Sample& sample, double level) {
  const double tail = (1 - level) / 2;
  return ends_at(sample, resampled_sum(sample), {tail, 1 - tail}, {1 - tail, tail});
}

std::optional<Ends> bca_ends(const Sample& sample, double level) {
  if (!varies(sample)) return std::nullopt;
  const auto sums = resampled_sum(sample);
  const double z0 = normal_quantile(mid_rank(sums, sample.sum()));
  const double a = acceleration(sample);
  const double z = critical_value(level);
  return ends_at(sample, sums, bca_level(z0, a, -z), bca_level(z0, a, z));
}

}  // namespace nkigrid::aggregate
