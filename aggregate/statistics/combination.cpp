#include "aggregate/statistics/combination.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "aggregate/statistics/intervals.hpp"
#include "aggregate/statistics/limits.hpp"

namespace nkigrid::aggregate {
namespace {

Interval square_and_add(const Combination& combination, double confidence) {
  std::vector<WeighedRate> rates;
  for (std::size_t c = 0; c < combination.cells.size(); ++c) {
    const auto& tasks = combination.cells[c];
    rates.push_back({mean_score(tasks), static_cast<double>(tasks.size()),
                     static_cast<double>(combination.coefficients[c]) / combination.divisor});
  }
  return square_and_add(rates, confidence);
}

}  // namespace

Interval square_and_add(std::span<const WeighedRate> rates, double confidence) {
  double value = 0, below = 0, above = 0;
  for (const auto& [rate, n, weight] : rates) {
    const auto ends = wilson(rate, n, confidence);
    const double down = weight * (rate - ends.low), up = weight * (ends.high - rate);
    value += weight * rate;
    below += weight > 0 ? down * down : up * up;
    above += weight > 0 ? up * up : down * down;
  }
  return {"newcombe", value - std::sqrt(below), value + std::sqrt(above)};
}

double value_of(const Combination& combination) noexcept {
  double value = 0;
  for (std::size_t c = 0; c < combination.cells.size(); ++c)
    value += combination.coefficients[c] * mean_score(combination.cells[c]);
  return value / combination.divisor;
}

Sample sample_of(const Combination& combination) {
  std::vector<TaskCount> all;  // one lattice for all cells
  for (const auto& tasks : combination.cells) all.insert(all.end(), tasks.begin(), tasks.end());
  const auto denominator = common_denominator(all, combination.cells.front().size());
  const auto& first = combination.cells.front();
  std::vector<std::int64_t> values(first.size());
  for (std::size_t c = 0; c < combination.cells.size(); ++c) {
    for (std::size_t i = 0; i < first.size(); ++i)
      values[i] += combination.coefficients[c] * scaled_score(combination.cells[c][i], denominator);
  }
  return group_by_stratum(denominator * combination.divisor, first, values);
}

Interval combination_interval(const Combination& combination, double confidence) {
  const auto sample = sample_of(combination);
  std::ptrdiff_t different = 0;
  for (const auto& stratum : sample.strata)
    different += std::count_if(stratum.begin(), stratum.end(), [](auto value) { return value != 0; });
  if (different > kFewTasks) {
    const auto ends = bca_ends(sample, confidence);
    const double value = value_of(combination);
    if (ends && ends->low < ends->high) return {"bca", std::min(ends->low, value), std::max(ends->high, value)};
  }
  return square_and_add(combination, confidence);
}

Sample difference_sample(const std::vector<TaskCount>& a, const std::vector<TaskCount>& b) {
  const std::vector<TaskCount> cells[] = {a, b};
  return sample_of({cells, {1, -1}});
}

Interval difference_interval(const std::vector<TaskCount>& a, const std::vector<TaskCount>& b, double confidence) {
  const std::vector<TaskCount> cells[] = {a, b};
  return combination_interval({cells, {1, -1}}, confidence);
}

}  // namespace nkigrid::aggregate
