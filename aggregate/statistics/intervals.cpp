#include "aggregate/statistics/intervals.hpp"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <cmath>

#include "aggregate/statistics/limits.hpp"
#include "aggregate/statistics/normal.hpp"

namespace nkigrid::aggregate {
namespace {

bool one_replicate(std::span<const TaskCount> tasks) noexcept {
  return std::all_of(tasks.begin(), tasks.end(), [](const auto& task) { return task.replicates == 1; });
}

}  // namespace

Interval wilson(double rate, double n, double confidence) {
  const double z = critical_value(confidence);
  const double scale = 1 + z * z / n;
  const double middle = rate + z * z / (2 * n);
  const double half = z * std::sqrt(rate * (1 - rate) / n + z * z / (4 * n * n));
  // At 0 and 1 the end is exact; the formula would be off by a rounding error.
  return {"wilson", rate <= 0 ? 0 : std::max(0.0, (middle - half) / scale),
          rate >= 1 ? 1 : std::min(1.0, (middle + half) / scale)};
}

Interval clopper_pearson(double rate, double n, double confidence) {
  const double tail = (1 - confidence) / 2, passed = rate * n, failed = n - passed;
  const double low = rate <= 0 ? 0 : boost::math::quantile(boost::math::beta_distribution<>(passed, failed + 1), tail);
  const double high =
      rate >= 1 ? 1 : boost::math::quantile(complement(boost::math::beta_distribution<>(passed + 1, failed), tail));
  return {"clopper-pearson", low, high};
}

Interval newcombe(double rate_a, double n_a, double rate_b, double n_b, double confidence) {
  const auto a = wilson(rate_a, n_a, confidence), b = wilson(rate_b, n_b, confidence);
  const double difference = rate_a - rate_b;
  return {"newcombe", difference - std::hypot(rate_a - a.low, b.high - rate_b),
          difference + std::hypot(a.high - rate_a, rate_b - b.low)};
}

double effective_tasks(const LevelValues& scores) {
  constexpr double kPseudoScatter = 0.5;
  double n = 0, sum = 0;
  for (const auto& level : scores) {
    n += static_cast<double>(level.size());
    for (const auto score : level) sum += score;
  }
  if (n < 2) return n;
  const double rate = sum / n, whole = n / (n - 1) * n * rate * (1 - rate);
  return n * (whole + kPseudoScatter) / (scatter_within_levels(scores) + kPseudoScatter);
}

Interval mean_interval(const LevelValues& scores, double confidence) {
  double n = 0, sum = 0;
  for (const auto& level : scores) {
    n += static_cast<double>(level.size());
    for (const auto score : level) sum += score;
  }
  auto interval = wilson(std::clamp(sum / n, 0.0, 1.0), effective_tasks(scores), confidence);
  interval.method = "wilson-eff";
  return interval;
}

Interval rate_interval(std::span<const TaskCount> tasks, double confidence) {
  const auto scores = scores_by_level(tasks);
  if (one_replicate(tasks) && scores.size() == 1)
    return wilson(mean_score(tasks), static_cast<double>(tasks.size()), confidence);
  auto interval = mean_interval(scores, confidence);
  if (const auto rerun = run_to_run_interval(tasks, confidence)) {
    interval.low = std::min(interval.low, rerun->low);
    interval.high = std::max(interval.high, rerun->high);
  }
  return interval;
}

std::optional<Interval> run_to_run_interval(std::span<const TaskCount> tasks, double confidence) {
  double variance_sum = 0, inverse_sum = 0, episodes = 0;
  std::ptrdiff_t repeated = 0, varying = 0;
  for (const auto& task : tasks) {
    const double k = task.replicates, p = task.passed / k;
    episodes += k;
    inverse_sum += 1 / k;
    if (task.replicates < 2) continue;
    variance_sum += k / (k - 1) * p * (1 - p);
    varying += task.passed > 0 && task.passed < task.replicates;
    ++repeated;
  }
  if (repeated == 0) return std::nullopt;
  const double rate = mean_score(tasks);
  const auto n = static_cast<double>(tasks.size());
  // n^2/sum 1/K_i, which is nK for equal K: one digit of rounding must not part the two.
  if (varying <= kFewTasks)
    return wilson(rate, has_equal_replicates(tasks) ? episodes : n * n / inverse_sum, confidence);
  // Var(mean) = sum_i sigma^2/K_i / n^2, which is sigma^2/(K n) for equal K.
  const double half =
      critical_value(confidence) * std::sqrt(variance_sum / static_cast<double>(repeated) * inverse_sum) / n;
  return Interval{"run-to-run", std::max(0.0, rate - half), std::min(1.0, rate + half)};
}

}  // namespace nkigrid::aggregate
