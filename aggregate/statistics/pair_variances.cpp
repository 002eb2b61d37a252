#include "aggregate/statistics/pair_variances.hpp"

#include <algorithm>
#include <cmath>

#include "aggregate/statistics/variance.hpp"

namespace nkigrid::aggregate {
namespace {

// Half a pass more and half a failure: no rate is 0 or 1.
double inner_rate(std::span<const TaskCount> tasks) {
  const auto n = static_cast<double>(tasks.size());
  return (mean_score(tasks) * n + 0.5) / (n + 1);
}

// One replicate cannot tell task from chance: the total is split in the prior's proportions.
void split_as_expected(PairVariances& variances, double total, const VariancePrior& prior) {
  const auto guess = expected_variances(prior);
  const double scale = total / (guess.between_tasks + guess.noise_a + guess.noise_b);
  variances.between_tasks = guess.between_tasks * scale;
  variances.noise_a = guess.noise_a * scale, variances.noise_b = guess.noise_b * scale;
  variances.split = false;
}

}  // namespace

PairVariances expected_variances(const VariancePrior& prior) noexcept {
  const double total = prior.rate * (1 - prior.rate), tasks = total * prior.share_of_tasks;
  const double between = 2 * tasks * (1 - prior.correlation);
  return {between, total - tasks, total - tasks, prior.rate, prior.rate, between, true};
}

std::optional<PairVariances> measured_variances(std::span<const TaskCount> a, std::span<const TaskCount> b,
                                                const VariancePrior& prior) {
  const auto spread = difference_spread(a, b);
  if (!spread || spread->variance <= 0) return std::nullopt;
  PairVariances measured{0, 0, 0, inner_rate(a), inner_rate(b)};
  double noise = 0;  // of the replicates, in the spread
  const auto in_a = variance_split(a), in_b = variance_split(b);
  const auto paired = difference_variance(a, b);
  if (in_a && in_b && paired) {
    measured.between_tasks = paired->between_tasks;
    measured.noise_a = in_a->between_replicates, measured.noise_b = in_b->between_replicates;
    noise = paired->between_replicates;
  } else {
    split_as_expected(measured, spread->variance, prior);
    noise = measured.noise_a + measured.noise_b;
  }
  // What replicates take from the spread is at most all of it: an estimate that was cut at 0 has a bound above 0.
  measured.between_upper = spread->upper(kPilotConfidence) - std::min(noise, spread->variance);
  return measured;
}

std::optional<PairVariances> mean_of(std::span<const PairVariances> several) {
  if (several.empty()) return std::nullopt;
  PairVariances sum;
  for (const auto& one : several) {
    sum.between_tasks += one.between_tasks;
    sum.noise_a += one.noise_a, sum.noise_b += one.noise_b;
    sum.rate_a += one.rate_a, sum.rate_b += one.rate_b;
    sum.between_upper += one.between_upper;
    sum.split &= one.split;
  }
  const auto n = static_cast<double>(several.size());
  return PairVariances{sum.between_tasks / n, sum.noise_a / n,       sum.noise_b / n, sum.rate_a / n,
                       sum.rate_b / n,        sum.between_upper / n, sum.split};
}

PairChances chances_of(const PairVariances& variances) noexcept {
  const auto variance = [](double rate) { return rate * (1 - rate); };
  const auto share = [&](double rate, double noise) { return std::clamp(1 - noise / variance(rate), 0.02, 0.98); };
  PairChances chances{variances.rate_b, share(variances.rate_a, variances.noise_a),
                      share(variances.rate_b, variances.noise_b), 0};
  const double in_a = chances.share_a * variance(variances.rate_a), in_b = chances.share_b * variance(variances.rate_b);
  chances.correlation = std::clamp((in_a + in_b - variances.between_tasks) / (2 * std::sqrt(in_a * in_b)), -1.0, 1.0);
  return chances;
}

}  // namespace nkigrid::aggregate
