#include "aggregate/statistics/power.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <limits>

#include "aggregate/statistics/normal.hpp"

namespace nkigrid::aggregate {
namespace {

// Counts beyond this are "never" for any grid.
constexpr double kMost = 1e12;

std::uint64_t at_least(double value) { return static_cast<std::uint64_t>(std::min(kMost, std::ceil(value - 1e-9))); }

}  // namespace

double mcnemar_power(double difference, double discordance, std::uint64_t n, double alpha, PValue kind) {
  using boost::math::binomial_distribution, boost::math::cdf, boost::math::complement, boost::math::pdf;
  if (discordance <= 0) return 0;
  const binomial_distribution<> discordant(static_cast<double>(n), std::min(discordance, 1.0));
  const double share = std::clamp((1 + difference / discordance) / 2, 0.0, 1.0);
  double power = 0;
  std::uint64_t reject = 0;  // min(b, c) below it is significant; grows with m
  for (std::uint64_t m = 1; m <= n; ++m) {
    while (2 * reject <= m && mcnemar(reject, m - reject, kind) <= alpha) ++reject;
    if (reject == 0) continue;
    const binomial_distribution<> first(static_cast<double>(m), share);
    const auto most = static_cast<double>(reject - 1);
    const double shown = cdf(first, most) + cdf(complement(first, static_cast<double>(m) - most - 1));
    power += pdf(discordant, static_cast<double>(m)) * shown;
  }
  return std::min(power, 1.0);
}

double paired_error(const PairedDesign& design) noexcept {
  return std::sqrt(
      (design.between_tasks + design.noise_a / design.replicates_a + design.noise_b / design.replicates_b) /
      design.tasks);
}

double smallest_difference(const PairedDesign& design, const PowerGoal& goal) {
  return (critical_value(1 - goal.alpha) + normal_quantile({goal.power, 1 - goal.power})) * paired_error(design);
}

std::optional<std::uint64_t> replicates_needed(const PairedDesign& design, double difference, double shown) {
  // (difference/shown)^2 n error^2 = omega^2 + (sigma_a^2 + sigma_b^2)/K
  const double wanted = std::pow(difference / shown * paired_error(design), 2) * design.tasks,
               left = wanted - design.between_tasks;
  if (left <= 0) return std::nullopt;
  return std::max<std::uint64_t>(1, at_least((design.noise_a + design.noise_b) / left));
}

std::uint64_t tasks_needed(const PairedDesign& design, double difference, double shown) {
  return std::max<std::uint64_t>(1, at_least(design.tasks * std::pow(shown / difference, 2)));
}

}  // namespace nkigrid::aggregate
