#include "aggregate/statistics/drawn.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <thread>

#include "aggregate/statistics/limits.hpp"
#include "aggregate/statistics/normal.hpp"
#include "jobs/base/draws.hpp"
#include "jobs/base/hash.hpp"

namespace nkigrid::aggregate {
namespace {

/// Where the two BCa ends stand in the distribution.
struct BcaLevels {
  Probability low, high;
};

Probability bca_level(double z0, double a, double z) noexcept {
  const double shifted = z0 + z;
  const double scale = 1 - a * shifted;
  // As a (z0 + z) grows to 1 the level runs into 0 or 1; past it the formula would come back from the other side.
  if (scale <= 0) return shifted > 0 ? Probability{1, 0} : Probability{0, 1};
  return normal_cdf(z0 + shifted / scale);
}

// Phi(z0 + (z0 + z)/(1 - a (z0 + z))) for both critical values z, z0 = Phi^-1(rank).
BcaLevels bca_levels(Probability rank, double a, double confidence) {
  const double z0 = normal_quantile(rank), z = critical_value(confidence);
  return {bca_level(z0, a, -z), bca_level(z0, a, z)};
}

double finite_or_least(double value) noexcept { return std::isnan(value) ? -HUGE_VAL : value; }

std::vector<double> column_sums(const TaskFigures& figures) {
  std::vector<double> sums;
  for (const auto& column : figures.columns) {
    double sum = 0;
    for (const auto& stratum : figures.strata) {
      for (const auto task : stratum) sum += column[task];
    }
    sums.push_back(sum);
  }
  return sums;
}

std::vector<double> drawn_sums(const TaskFigures& figures, std::uint64_t stream) {
  Draws draws(stream);
  std::vector<double> sums(figures.columns.size());
  for (const auto& stratum : figures.strata) {
    for (std::size_t i = 0; i < stratum.size(); ++i) {
      const auto task = stratum[draws.below(stratum.size())];
      for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += figures.columns[c][task];
    }
  }
  return sums;
}

// Of each statistic, what the draws give, sorted.
std::vector<std::vector<double>> all_draws(const TaskFigures& figures, std::span<const SumStatistic> statistics,
                                           std::uint64_t key, const Drawing& drawing) {
  std::vector<std::vector<double>> values(statistics.size(), std::vector<double>(drawing.draws));
  const auto name = std::to_string(key);
  const unsigned wanted =
      drawing.threads ? drawing.threads : std::min(kMaxThreads, std::thread::hardware_concurrency());
  const unsigned threads = std::max(1u, wanted);
  const auto work = [&](unsigned first) {
    for (std::size_t d = first; d < drawing.draws; d += threads) {
      const auto sums = drawn_sums(figures, keyed_hash({"bootstrap", name, std::to_string(d)}));
      for (std::size_t s = 0; s < statistics.size(); ++s) values[s][d] = finite_or_least(statistics[s](sums));
    }
  };
  std::vector<std::jthread> others;
  for (unsigned t = 1; t < threads; ++t) others.emplace_back(work, t);
  work(0);
  others.clear();
  for (auto& of_one : values) std::sort(of_one.begin(), of_one.end());
  return values;
}

// (1/6) sum n_s^-3 l^3 / (sum n_s^-2 l^2)^(3/2), l the jackknife influence of a task within its stratum.
double jackknife_acceleration(const TaskFigures& figures, const SumStatistic& statistic, std::span<const double> sums) {
  const double whole = statistic(sums);
  double cubes = 0, squares = 0;
  std::vector<double> without(sums.size());
  for (const auto& stratum : figures.strata) {
    const auto n = static_cast<double>(stratum.size());
    if (stratum.size() < 2) continue;
    std::vector<double> own(sums.size());
    for (std::size_t c = 0; c < sums.size(); ++c) {
      for (const auto task : stratum) own[c] += figures.columns[c][task];
    }
    for (const auto task : stratum) {
      for (std::size_t c = 0; c < sums.size(); ++c)
        without[c] = sums[c] - own[c] + (own[c] - figures.columns[c][task]) * n / (n - 1);
      const double influence = (n - 1) * (whole - statistic(without)) / n;
      if (!std::isfinite(influence)) return 0;
      cubes += influence * influence * influence;
      squares += influence * influence;
    }
  }
  return squares > 0 ? cubes / (6 * std::pow(squares, 1.5)) : 0;
}

// The smallest drawn value with at least the share `at` of the draws at or below it.
double quantile(const std::vector<double>& sorted, double at) {
  const auto rank = std::ceil(at * static_cast<double>(sorted.size())) - 1;
  return sorted[static_cast<std::size_t>(std::clamp(rank, 0.0, static_cast<double>(sorted.size() - 1)))];
}

std::optional<Interval> bca_interval(const TaskFigures& figures, const SumStatistic& statistic,
                                     const std::vector<double>& values, double confidence) {
  const auto sums = column_sums(figures);
  const double whole = statistic(sums);
  if (!std::isfinite(whole)) return std::nullopt;
  // Sums of doubles in another order differ in their last digits: nearly the observed value is a tie.
  const double near = 1e-12 * std::abs(whole);
  const auto below = std::lower_bound(values.begin(), values.end(), whole - near) - values.begin();
  const auto up_to = std::upper_bound(values.begin(), values.end(), whole + near) - values.begin();
  const double rank =
      (static_cast<double>(below) + static_cast<double>(up_to)) / 2 / static_cast<double>(values.size());
  if (rank <= 0 || rank >= 1 || values.front() == values.back()) return std::nullopt;
  const auto levels = bca_levels({rank, 1 - rank}, jackknife_acceleration(figures, statistic, sums), confidence);
  const double low = quantile(values, levels.low.below), high = quantile(values, levels.high.below);
  if (!std::isfinite(low) || !std::isfinite(high) || low >= high) return std::nullopt;
  return Interval{"bca-drawn", std::min(low, whole), std::max(high, whole)};
}

}  // namespace

std::vector<std::vector<std::uint32_t>> strata_of(std::span<const TaskCount> tasks) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> strata;
  for (std::uint32_t i = 0; i < tasks.size(); ++i) strata[tasks[i].stratum].push_back(i);
  std::vector<std::vector<std::uint32_t>> list;
  for (auto& [number, members] : strata) list.push_back(std::move(members));
  return list;
}

std::vector<std::optional<Interval>> drawn_intervals(const TaskFigures& figures,
                                                     std::span<const SumStatistic> statistics, double confidence,
                                                     std::uint64_t key, const Drawing& drawing) {
  const auto values = all_draws(figures, statistics, key, drawing);
  std::vector<std::optional<Interval>> intervals;
  for (std::size_t s = 0; s < statistics.size(); ++s)
    intervals.push_back(bca_interval(figures, statistics[s], values[s], confidence));
  return intervals;
}

std::optional<Interval> drawn_interval(const TaskFigures& figures, const SumStatistic& statistic, double confidence,
                                       std::uint64_t key, const Drawing& drawing) {
  return drawn_intervals(figures, {&statistic, 1}, confidence, key, drawing).front();
}

}  // namespace nkigrid::aggregate
