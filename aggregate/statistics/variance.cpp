#include "aggregate/statistics/variance.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <map>
#include <vector>

#include "aggregate/statistics/bootstrap.hpp"
#include "aggregate/statistics/drawn.hpp"
#include "aggregate/statistics/intervals.hpp"
#include "aggregate/statistics/limits.hpp"

namespace nkigrid::aggregate {
namespace {

constexpr std::int64_t kMaxPairs = 1 << 20;

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

// C(n, k), or none when it is beyond the lattices that are worth their time.
std::optional<std::int64_t> binomial(std::uint32_t n, std::uint32_t k) {
  double value = 1;
  for (std::uint32_t i = 1; i <= k; ++i) value *= static_cast<double>(n - k + i) / i;
  return value <= static_cast<double>(kMaxPairs) ? std::optional(std::llround(value)) : std::nullopt;
}

Interval chance_interval(const std::vector<double>& chances, const std::vector<TaskCount>& tasks, std::uint32_t k,
                         double confidence, std::uint64_t key) {
  double mean = 0;
  for (const auto chance : chances) mean += chance / static_cast<double>(chances.size());
  const auto above = std::count_if(chances.begin(), chances.end(), [](double p) { return p > 0; });
  const auto below = std::count_if(chances.begin(), chances.end(), [](double p) { return p < 1; });
  if (above > kFewTasks && below > kFewTasks) {
    const bool equal = std::all_of(tasks.begin(), tasks.end(),
                                   [&](const auto& task) { return task.replicates == tasks[0].replicates; });
    const auto ways = equal ? binomial(tasks[0].replicates, k) : std::nullopt;
    std::optional<Range> ends;
    if (ways && *ways * static_cast<std::int64_t>(tasks.size()) <= 4 * kMaxPairs) {
      std::vector<std::int64_t> values;
      for (const auto chance : chances) values.push_back(std::llround(chance * static_cast<double>(*ways)));
      ends = bca_ends(group_by_stratum(*ways, tasks, values), confidence);
      if (ends && ends->low < ends->high) return {"bca", std::min(ends->low, mean), std::max(ends->high, mean)};
    } else if (const auto drawn = drawn_interval(
                   {{chances}, strata_of(tasks)}, [](auto sums) { return sums[0]; }, confidence, key)) {
      const auto n = static_cast<double>(tasks.size());
      return {drawn->method, std::min(drawn->low / n, mean), std::max(drawn->high / n, mean)};
    }
  }
  return wilson(std::clamp(mean, 0.0, 1.0), static_cast<double>(tasks.size()), confidence);
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

PassAt pass_at_all_tasks(std::span<const TaskCount> tasks, std::uint32_t k, double confidence, std::uint64_t key) {
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
  result.any_interval = chance_interval(any, enough, k, confidence, key);
  result.all_interval = chance_interval(all, enough, k, confidence, key + 1);
  return result;
}

}  // namespace nkigrid::aggregate
