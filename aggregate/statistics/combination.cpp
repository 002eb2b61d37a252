#include "aggregate/statistics/combination.hpp"

#include <algorithm>
#include <cmath>

#include "aggregate/statistics/intervals.hpp"
#include "aggregate/statistics/normal.hpp"

namespace nkigrid::aggregate {
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

Interval bonett_price(const LevelValues& differences, double confidence) {
  double n = 0, sum = 0, sizes = 0, squares = 0;
  for (const auto& level : differences) {
    for (const auto d : level) ++n, sum += d, sizes += std::abs(d), squares += d * d;
  }
  const double size = (squares + 1) / (sizes + 1);
  const double scatter = scatter_within_levels(differences) + 2 * size * size;
  const double middle = sum / (n + 2), half = critical_value(confidence) * std::sqrt(scatter) / (n + 2);
  return {"bonett-price", std::min(middle - half, sum / n), std::max(middle + half, sum / n)};
}

namespace {

constexpr double kLeastShown = 1e-6;  // the finest step of a printed number

LevelValues differences_of(const Sample& sample) {
  LevelValues levels;
  for (const auto& stratum : sample.strata) {
    auto& level = levels.emplace_back();
    for (const auto value : stratum)
      level.push_back(static_cast<double>(value) / static_cast<double>(sample.denominator));
  }
  return levels;
}

// What the combination can be at most; it is at least the same below 0, but for one whose signs do not balance.
double most_of(const Combination& combination) noexcept {
  double up = 0, down = 0;
  for (const auto coefficient : combination.coefficients) (coefficient > 0 ? up : down) += std::abs(coefficient);
  return std::max(up, down) / combination.divisor;
}

/// An interval with an end that stands where the test has put it says so in its method.
void agree_with_test(Interval& interval, double value, bool separates) {
  const Interval before = interval;
  if (!separates) {
    interval.low = std::min(interval.low, 0.0);
    interval.high = std::max(interval.high, 0.0);
  } else if (value > 0) {
    interval.low = std::max(interval.low, std::min(kLeastShown, value));
  } else {
    interval.high = std::min(interval.high, std::max(-kLeastShown, value));
  }
  if (interval.low != before.low || interval.high != before.high) interval.method += "+test";
}

}  // namespace

Comparison compare(const Combination& combination, double confidence, PValue kind) {
  const auto sample = sample_of(combination);
  Comparison result{value_of(combination), bonett_price(differences_of(sample), confidence), sign_flip(sample, kind)};
  const double most = most_of(combination);
  result.interval.low = std::max(result.interval.low, -most);
  result.interval.high = std::min(result.interval.high, most);
  agree_with_test(result.interval, result.value, result.p <= 1 - confidence);
  return result;
}

Comparison compare(const std::vector<TaskCount>& a, const std::vector<TaskCount>& b, double confidence, PValue kind) {
  const std::vector<TaskCount> cells[] = {a, b};
  return compare({cells, {1, -1}}, confidence, kind);
}

}  // namespace nkigrid::aggregate
