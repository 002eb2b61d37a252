#include "aggregate/statistics/relative.hpp"

#include <algorithm>
#include <cmath>

#include "aggregate/statistics/intervals.hpp"
#include "aggregate/statistics/limits.hpp"

namespace nkigrid::aggregate {
namespace {

/// Scores task by task, summed over the cells of each side.
struct Sides {
  std::vector<double> value, baseline;
};

Sides sides_of(const Combination& effect) {
  Sides sides;
  sides.value.resize(effect.cells.front().size());
  sides.baseline.resize(sides.value.size());
  for (std::size_t c = 0; c < effect.cells.size(); ++c) {
    auto& side = effect.coefficients[c] > 0 ? sides.value : sides.baseline;
    for (std::size_t i = 0; i < side.size(); ++i)
      side[i] += static_cast<double>(effect.cells[c][i].passed) / effect.cells[c][i].replicates;
  }
  return sides;
}

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const auto value : values) sum += value;
  return sum;
}

std::ptrdiff_t any_pass(const std::vector<double>& scores) {
  return std::count_if(scores.begin(), scores.end(), [](double score) { return score > 0; });
}

// Are the tasks too few to draw from?
NoInterval too_few(const Combination& effect, const Sides& sides) {
  if (any_pass(sides.baseline) <= kFewTasks) return NoInterval::few_baseline_passes;
  if (any_pass(sides.value) <= kFewTasks) return NoInterval::few_passes;
  std::ptrdiff_t different = 0;
  for (const auto& stratum : sample_of(effect).strata)
    different += std::count_if(stratum.begin(), stratum.end(), [](auto value) { return value != 0; });
  return different <= kFewTasks ? NoInterval::few_differences : NoInterval::has_one;
}

}  // namespace

RelativeChange relative_change(const Combination& effect, double confidence, std::uint64_t key,
                               const Drawing& drawing) {
  const auto sides = sides_of(effect);
  const double baseline = sum_of(sides.baseline);
  if (baseline <= 0) return {{}, {}, NoInterval::no_baseline_passes};
  RelativeChange result{sum_of(sides.value) / baseline - 1, {}, too_few(effect, sides)};
  if (result.reason != NoInterval::has_one) return result;
  // The ratio is drawn, not the change: sums that differ in their last bit are ties near 1 and would not be near 0.
  const auto ratio = [](std::span<const double> sums) { return sums[0] / sums[1]; };
  result.interval =
      drawn_interval({{sides.value, sides.baseline}, strata_of(effect.cells.front())}, ratio, confidence, key, drawing);
  if (!result.interval) {
    result.reason = NoInterval::no_variation;
    return result;
  }
  result.interval->low = std::min(result.interval->low - 1, *result.change);
  result.interval->high = std::max(result.interval->high - 1, *result.change);
  return result;
}

RelativeChange relative_change(double rate, double n, double baseline_rate, double baseline_n, double confidence) {
  if (baseline_rate <= 0) return {{}, {}, NoInterval::no_baseline_passes};
  const auto a = wilson(rate, n, confidence), b = wilson(baseline_rate, baseline_n, confidence);
  // The ends R are where the square-and-add interval of rate - R baseline_rate touches 0: A R^2 - 2 product R + C = 0.
  const double product = rate * baseline_rate;
  const auto root = [&](double squared, double constant) {
    return std::sqrt(std::max(0.0, product * product - squared * constant));
  };
  const double low_squared = b.high * (2 * baseline_rate - b.high), low_constant = a.low * (2 * rate - a.low);
  const double high_squared = b.low * (2 * baseline_rate - b.low), high_constant = a.high * (2 * rate - a.high);
  // low_squared is 0 or less where the baseline's interval is wide: so the root with it in the numerator.
  const double low = low_constant > 0 ? low_constant / (product + root(low_squared, low_constant)) : 0;
  const double high = (product + root(high_squared, high_constant)) / high_squared;
  const double change = rate / baseline_rate - 1;
  return {change, Interval{"mover-r", std::min(low - 1, change), std::max(high - 1, change)}};
}

}  // namespace nkigrid::aggregate
