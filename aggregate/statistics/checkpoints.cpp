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
double interaction(const CheckpointScores& scores) {
  const auto of_checkpoint = checkpoint_means(scores), of_task = task_means(scores);
  const double mean = mean_of(of_checkpoint);
  double sum = 0;
  for (std::size_t c = 0; c < scores.size(); ++c) {
    for (std::size_t t = 0; t < of_task.size(); ++t)
      sum += std::pow(scores[c][t] - of_checkpoint[c] - of_task[t] + mean, 2);
  }
  return sum / (static_cast<double>(scores.size() - 1) * static_cast<double>(of_task.size() - 1));
}

Estimate scatter_of(const CheckpointScores& scores) {
  const auto means = checkpoint_means(scores);
  const auto freedom = static_cast<double>(means.size() - 1);
  return {square_sum(means) / freedom, freedom};
}

// Terms of a variance and what they count twice, as a standard error with Satterthwaite's degrees of freedom.
Estimate combine(std::span<const Estimate> terms, double twice) {
  double sum = 0, largest = 0, spread = 0;
  for (const auto& term : terms) {
    sum += term.variance;
    largest = std::max(largest, term.variance);
    if (term.freedom > 0) spread += term.variance * term.variance / term.freedom;
  }
  const double variance = std::max(sum - twice, largest);
  return {variance, spread > 0 ? variance * variance / spread : 0};
}

std::optional<Interval> t_interval(double middle, const Estimate& estimate, double confidence, double least,
                                   double most) {
  if (estimate.variance <= 0 || estimate.freedom <= 0) return std::nullopt;
  const boost::math::students_t_distribution<> t(estimate.freedom);
  const double half =
      boost::math::quantile(boost::math::complement(t, (1 - confidence) / 2)) * std::sqrt(estimate.variance);
  return Interval{"checkpoint-t", std::max(least, middle - half), std::min(most, middle + half)};
}

}  // namespace

CheckpointMean checkpoint_mean(const CheckpointScores& scores, std::span<const std::vector<std::uint32_t>> strata,
                               double confidence) {
  CheckpointMean result;
  result.mean = mean_of(checkpoint_means(scores));
  const auto n = static_cast<double>(scores.front().size());
  if (scores.size() < 2) return result;
  auto of_checkpoints = scatter_of(scores);
  result.between_checkpoints = std::sqrt(of_checkpoints.variance);
  auto of_tasks = within_strata(task_means(scores), strata);
  if (of_tasks.freedom <= 0) return result;
  const auto checkpoints = static_cast<double>(scores.size());
  of_checkpoints.variance /= checkpoints;
  of_tasks.variance /= n;
  const Estimate terms[] = {of_checkpoints, of_tasks};
  result.interval = t_interval(result.mean, combine(terms, interaction(scores) / (checkpoints * n)), confidence, 0, 1);
  return result;
}

namespace {

/// A square-and-add interval: each variance with the t of its own freedom.
double half_width(std::span<const Estimate> terms, const Estimate& twice, double confidence) {
  const auto squared = [&](const Estimate& term) {
    const boost::math::students_t_distribution<> t(term.freedom);
    return std::pow(boost::math::quantile(boost::math::complement(t, (1 - confidence) / 2)), 2) * term.variance;
  };
  // What checkpoints scatter by beyond their interaction with tasks is cut at 0; the tasks' term stays.
  const double excess = std::max(0.0, squared(terms[0]) - squared(twice));
  return std::sqrt(excess + squared(terms[1]));
}

// p is 1 - the confidence whose interval just reaches 0.
double p_of(std::span<const Estimate> terms, const Estimate& twice, double difference) {
  constexpr double kLeast = 1e-12;
  const auto room = [&](double p) { return half_width(terms, twice, 1 - p) - std::abs(difference); };
  if (difference == 0) return 1;
  if (room(kLeast) <= 0) return kLeast;
  std::uintmax_t steps = 100;
  const auto found = boost::math::tools::toms748_solve(room, kLeast, 1.0, room(kLeast), -std::abs(difference),
                                                       boost::math::tools::eps_tolerance<double>(44), steps);
  return (found.first + found.second) / 2;
}

// One checkpoint against several: the several say how checkpoints scatter, on both sides.
void one_against_several(CheckpointDifference& result, const CheckpointScores& several, Estimate of_tasks,
                         double confidence) {
  const auto checkpoints = static_cast<double>(several.size()), n = static_cast<double>(several.front().size());
  auto scatter = scatter_of(several);
  scatter.variance *= 1 + 1 / checkpoints;
  const Estimate twice{interaction(several) / n * (1 + 1 / checkpoints), scatter.freedom * (n - 1)};
  const Estimate terms[] = {scatter, of_tasks};
  const double half = half_width(terms, twice, confidence);
  if (half <= 0) return;
  result.interval =
      Interval{"checkpoint-t", std::max(-1.0, result.difference - half), std::min(1.0, result.difference + half)};
  result.p = p_of(terms, twice, result.difference);
}

}  // namespace

CheckpointDifference checkpoint_difference(const CheckpointScores& a, const CheckpointScores& b,
                                           std::span<const std::vector<std::uint32_t>> strata, double confidence) {
  CheckpointDifference result;
  auto differences = task_means(a);
  const auto other = task_means(b);
  for (std::size_t t = 0; t < differences.size(); ++t) differences[t] -= other[t];
  result.difference = mean_of(differences);
  if (a.size() < 2 && b.size() < 2) return result;
  const auto n = static_cast<double>(differences.size());
  auto of_tasks = within_strata(differences, strata);
  if (of_tasks.freedom <= 0) return result;
  of_tasks.variance /= n;
  if (a.size() < 2 || b.size() < 2) {
    one_against_several(result, a.size() < 2 ? b : a, of_tasks, confidence);
    return result;
  }
  auto of_a = scatter_of(a), of_b = scatter_of(b);
  double twice = 0;
  for (const auto* side : {&a, &b}) twice += interaction(*side) / (static_cast<double>(side->size()) * n);
  of_a.variance /= static_cast<double>(a.size());
  of_b.variance /= static_cast<double>(b.size());
  const Estimate terms[] = {of_a, of_b, of_tasks};
  const auto error = combine(terms, twice);
  result.interval = t_interval(result.difference, error, confidence, -1, 1);
  if (result.interval) {
    const boost::math::students_t_distribution<> t(error.freedom);
    result.p =
        2 * boost::math::cdf(boost::math::complement(t, std::abs(result.difference) / std::sqrt(error.variance)));
  }
  return result;
}

}  // namespace nkigrid::aggregate
