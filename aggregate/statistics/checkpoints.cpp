#include "aggregate/statistics/checkpoints.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace nkigrid::aggregate {
namespace {

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double square_sum(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const auto value : values) sum += (value - mean) * (value - mean);
  return sum;
}

std::vector<double> checkpoint_means(const CheckpointScores& scores) {
  std::vector<double> means;
  for (const auto& one : scores) means.push_back(mean_of(one));
  return means;
}

std::vector<double> task_means(const CheckpointScores& scores) {
  std::vector<double> means(scores.front().size());
  for (const auto& one : scores) {
    for (std::size_t t = 0; t < means.size(); ++t) means[t] += one[t] / static_cast<double>(scores.size());
  }
  return means;
}

/// A variance with its degrees of freedom.
struct Estimate {
  double variance = 0, freedom = 0;
};

// Of task values within strata, pooled.
Estimate within_strata(const std::vector<double>& values, std::span<const std::vector<std::uint32_t>> strata) {
  Estimate estimate;
  for (const auto& stratum : strata) {
    std::vector<double> own;
    for (const auto task : stratum) own.push_back(values[task]);
    estimate.variance += square_sum(own);
    estimate.freedom += static_cast<double>(own.size()) - 1;
  }
  if (estimate.freedom > 0) estimate.variance /= estimate.freedom;
  return estimate;
}

// MS of checkpoint x task: what is left of the scores after both kinds of means. @pre two checkpoints, two
// tasks
double interaction_of(const CheckpointScores& scores) {
  const auto of_checkpoint = checkpoint_means(scores), of_task = task_means(scores);
  const double mean = mean_of(of_checkpoint);
  double sum = 0;
  for (std::size_t c = 0; c < scores.size(); ++c) {
    for (std::size_t t = 0; t < of_task.size(); ++t)
      sum += std::pow(scores[c][t] - of_checkpoint[c] - of_task[t] + mean, 2);
  }
  return sum / (static_cast<double>(scores.size() - 1) * static_cast<double>(of_task.size() - 1));
}

/// How checkpoints of some methods on the same tasks scatter; those of all methods alike.
struct Scatter {
  Estimate of_means, interaction;  ///< the latter of one task; over n tasks it is in of_means n times less

  void add(const CheckpointScores& scores) {
    const auto freedom = static_cast<double>(scores.size()) - 1, n = static_cast<double>(scores.front().size());
    if (scores.size() < 2) return;
    pool(of_means, {square_sum(checkpoint_means(scores)) / freedom, freedom});
    pool(interaction, {interaction_of(scores) / n, freedom * (n - 1)});
  }

 private:
  static void pool(Estimate& all, const Estimate& more) {
    const double freedom = all.freedom + more.freedom;
    all = {(all.variance * all.freedom + more.variance * more.freedom) / freedom, freedom};
  }
};

/// An error that checkpoints and tasks make together, each variance with the t of its own freedom.
struct CheckpointError {
  Scatter scatter;
  double share = 0;   ///< sum of 1/C: how much of one checkpoint's scatter a mean, or a difference, has
  Estimate of_tasks;  ///< of the mean over them

  double half_width(double confidence) const {
    const auto squared = [&](const Estimate& term) {
      const boost::math::students_t_distribution<> t(term.freedom);
      return std::pow(boost::math::quantile(boost::math::complement(t, (1 - confidence) / 2)), 2) * term.variance;
    };
    // What checkpoints scatter by beyond their interaction with tasks is cut at 0; the tasks' term stays.
    const double excess = std::max(0.0, share * (squared(scatter.of_means) - squared(scatter.interaction)));
    return std::sqrt(excess + squared(of_tasks));
  }

  // None where nothing scatters.
  std::optional<Interval> interval(double middle, double confidence, double least, double most) const {
    const double half = half_width(confidence);
    if (half <= 0) return std::nullopt;
    return Interval{"checkpoint-t", std::max(least, middle - half), std::min(most, middle + half)};
  }
};

// p is 1 - the confidence whose interval just reaches 0.
double p_of(const CheckpointError& error, double difference) {
  constexpr double kLeast = 1e-12;
  const auto room = [&](double p) { return error.half_width(1 - p) - std::abs(difference); };
  if (difference == 0) return 1;
  if (room(kLeast) <= 0) return kLeast;
  std::uintmax_t steps = 100;
  const auto found = boost::math::tools::toms748_solve(room, kLeast, 1.0, room(kLeast), -std::abs(difference),
                                                       boost::math::tools::eps_tolerance<double>(44), steps);
  return (found.first + found.second) / 2;
}

// Of the mean over tasks; none of one task a stratum.
std::optional<Estimate> task_error(const std::vector<double>& values,
                                   std::span<const std::vector<std::uint32_t>> strata) {
  auto estimate = within_strata(values, strata);
  if (estimate.freedom <= 0) return std::nullopt;
  estimate.variance /= static_cast<double>(values.size());
  return estimate;
}

}  // namespace

CheckpointMean checkpoint_mean(const CheckpointScores& scores, std::span<const std::vector<std::uint32_t>> strata,
                               double confidence) {
  CheckpointMean result;
  result.mean = mean_of(checkpoint_means(scores));
  if (scores.size() < 2) return result;
  Scatter scatter;
  scatter.add(scores);
  result.between_checkpoints = std::sqrt(scatter.of_means.variance);
  if (const auto of_tasks = task_error(task_means(scores), strata)) {
    const CheckpointError error{scatter, 1 / static_cast<double>(scores.size()), *of_tasks};
    result.interval = error.interval(result.mean, confidence, 0, 1);
  }
  return result;
}

CheckpointDifference checkpoint_difference(const CheckpointScores& a, const CheckpointScores& b,
                                           std::span<const std::vector<std::uint32_t>> strata, double confidence) {
  CheckpointDifference result;
  auto differences = task_means(a);
  const auto other = task_means(b);
  for (std::size_t t = 0; t < differences.size(); ++t) differences[t] -= other[t];
  result.difference = mean_of(differences);
  if (a.size() < 2 && b.size() < 2) return result;
  const auto of_tasks = task_error(differences, strata);
  if (!of_tasks) return result;
  Scatter scatter;
  scatter.add(a);
  scatter.add(b);
  const CheckpointError error{scatter, 1 / static_cast<double>(a.size()) + 1 / static_cast<double>(b.size()),
                              *of_tasks};
  result.interval = error.interval(result.difference, confidence, -1, 1);
  if (result.interval) result.p = p_of(error, result.difference);
  return result;
}

}  // namespace nkigrid::aggregate
