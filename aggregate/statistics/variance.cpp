#include "aggregate/statistics/variance.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <map>
#include <vector>

#include "aggregate/statistics/intervals.hpp"

namespace nkigrid::aggregate {
namespace {

// Variance within strata, pooled over them; none without a stratum of two.
std::optional<Spread> pooled_variance(const std::vector<double>& values, std::span<const TaskCount> tasks) {
  struct Sums {
    double n = 0, sum = 0, square = 0;
  };
  std::map<std::uint32_t, Sums> strata;
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto& stratum = strata[tasks[i].stratum];
    stratum.n += 1;
    stratum.sum += values[i];
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto& stratum = strata[tasks[i].stratum];
    stratum.square += std::pow(values[i] - stratum.sum / stratum.n, 2);
  }
  double square = 0, freedom = 0;
  for (const auto& [number, stratum] : strata) square += stratum.square, freedom += stratum.n - 1;
  return freedom > 0 ? std::optional(Spread{square / freedom, freedom}) : std::nullopt;
}

struct Repeats {
  double variance = 0;  ///< sigma^2
  double inverse = 0;   ///< mean of 1/K
};

std::optional<Repeats> repeats_of(std::span<const TaskCount> tasks) {
  Repeats repeats;
  double repeated = 0;
  for (const auto& task : tasks) {
    const double k = task.replicates, p = task.passed / k;
    repeats.inverse += 1 / k / static_cast<double>(tasks.size());
    if (task.replicates < 2) continue;
    repeats.variance += k / (k - 1) * p * (1 - p);
    ++repeated;
  }
  if (repeated == 0) return std::nullopt;
  repeats.variance /= repeated;
  return repeats;
}

std::vector<double> scores_of(std::span<const TaskCount> tasks) {
  std::vector<double> scores;
  for (const auto& task : tasks) scores.push_back(static_cast<double>(task.passed) / task.replicates);
  return scores;
}

}  // namespace

std::optional<double> VarianceSplit::share_of_tasks() const noexcept {
  const double total = between_tasks + between_replicates;
  return total > 0 ? std::optional(between_tasks / total) : std::nullopt;
}

std::optional<VarianceSplit> variance_split(std::span<const TaskCount> tasks) {
  const auto repeats = repeats_of(tasks);
  const auto of_means = pooled_variance(scores_of(tasks), tasks);
  if (!repeats || !of_means) return std::nullopt;
  return VarianceSplit{std::max(0.0, of_means->variance - repeats->variance * repeats->inverse), repeats->variance};
}

std::optional<double> variance_between_replicates(std::span<const TaskCount> tasks) {
  const auto repeats = repeats_of(tasks);
  return repeats ? std::optional(repeats->variance) : std::nullopt;
}

double Spread::upper(double confidence) const {
  const boost::math::chi_squared_distribution<> chi(freedom);
  return variance * freedom / boost::math::quantile(chi, 1 - confidence);
}

std::optional<Spread> difference_spread(std::span<const TaskCount> a, std::span<const TaskCount> b) {
  auto differences = scores_of(a);
  const auto other = scores_of(b);
  for (std::size_t i = 0; i < differences.size(); ++i) differences[i] -= other[i];
  return pooled_variance(differences, a);
}

std::optional<VarianceSplit> difference_variance(std::span<const TaskCount> a, std::span<const TaskCount> b) {
  const auto in_a = repeats_of(a), in_b = repeats_of(b);
  const auto of_means = difference_spread(a, b);
  if (!in_a || !in_b || !of_means) return std::nullopt;
  const double noise = in_a->variance * in_a->inverse + in_b->variance * in_b->inverse;
  return VarianceSplit{std::max(0.0, of_means->variance - noise), noise};
}

double pass_at(const TaskCount& task, std::uint32_t k) noexcept {
  const std::uint32_t failed = task.replicates - task.passed;
  if (failed < k) return 1;
  double none = 1;
  for (std::uint32_t i = failed + 1; i <= task.replicates; ++i) none *= 1 - static_cast<double>(k) / i;
  return 1 - none;
}

double pass_all(const TaskCount& task, std::uint32_t k) noexcept {
  double all = 1;
  for (std::uint32_t i = 0; i < k; ++i)
    all *= task.passed > i ? static_cast<double>(task.passed - i) / (task.replicates - i) : 0;
  return all;
}

PassAt pass_at_all_tasks(std::span<const TaskCount> tasks, std::uint32_t k, double confidence) {
  std::vector<TaskCount> enough;
  std::vector<double> any, all;
  PassAt result;
  result.k = k;
  for (const auto& task : tasks) {
    if (task.replicates < k) continue;
    enough.push_back(task);
    any.push_back(pass_at(task, k));
    all.push_back(pass_all(task, k));
    result.any += any.back();
    result.all += all.back();
  }
  result.tasks = static_cast<std::uint32_t>(enough.size());
  result.any /= result.tasks;
  result.all /= result.tasks;
  if (k == 1) {  // both are the rate, and have its interval
    result.any = result.all = mean_score(enough);
    result.any_interval = result.all_interval = rate_interval(enough, confidence);
    return result;
  }
  result.any_interval = mean_interval(values_by_level(any, enough), confidence);
  result.all_interval = mean_interval(values_by_level(all, enough), confidence);
  return result;
}

}  // namespace nkigrid::aggregate
