#include "aggregate/statistics/power_forecast.hpp"

#include <algorithm>
#include <cmath>

#include "aggregate/statistics/normal.hpp"

namespace nkigrid::aggregate {
namespace {

PairSize size_of(const PairedDesign& design) {
  return {static_cast<std::uint32_t>(design.tasks), static_cast<std::uint32_t>(design.replicates_a),
          static_cast<std::uint32_t>(design.replicates_b)};
}

std::uint32_t draws_for(double tasks, std::size_t designs) {
  constexpr double kTaskDraws = 1.5e6;
  return static_cast<std::uint32_t>(std::clamp(kTaskDraws / (tasks * static_cast<double>(designs)), 300.0, 2000.0));
}

// Tasks from which on the test shows the wanted difference: from where the normal approximation puts them, corrected by
// the power there.
std::uint64_t tasks_by_test(const PairedDesign& design, const PairChances& chances, double tasks, std::size_t designs,
                            const PowerOptions& options) {
  constexpr double kMostTasks = 2000;  // beyond, the two agree
  constexpr int kSteps = 3;
  const auto& goal = options.goal;
  const double critical = critical_value(1 - goal.alpha),
               wanted = critical + normal_quantile({goal.power, 1 - goal.power});
  for (int step = 0; step < kSteps && tasks <= kMostTasks; ++step) {
    auto size = size_of(design);
    size.tasks = static_cast<std::uint32_t>(tasks);
    PairPower test(chances, size, {goal.alpha}, draws_for(tasks, designs), options.test);
    const double power = std::clamp(test.at(options.difference)[0], 0.1, 0.999);
    tasks = std::ceil(tasks * std::pow(wanted / (critical + normal_quantile({power, 1 - power})), 2));
  }
  return static_cast<std::uint64_t>(tasks);
}

// Whether tasks that all differ one way reach alpha: no number of replicates makes p smaller than their signs do.
bool can_reach(const PowerOptions& options, double tasks) {
  return mcnemar(static_cast<std::uint64_t>(tasks), 0, options.test) <= options.goal.alpha;
}

}  // namespace

TestedDesign test_design(const PairedDesign& design, const PairChances& chances, const Comparisons& comparisons,
                         const PowerOptions& options) {
  const auto& goal = options.goal;
  PairPower power(chances, size_of(design), {goal.alpha, goal.alpha / static_cast<double>(comparisons.all)},
                  draws_for(design.tasks, comparisons.designs), options.test);
  TestedDesign tested;
  tested.smallest = power.smallest(0, goal.power);
  tested.smallest_in_family = power.smallest(1, goal.power);
  tested.power = power.at(options.difference)[0];
  tested.draws = power.draws();
  const auto tasks = static_cast<std::uint64_t>(design.tasks);
  const bool enough = tested.smallest && *tested.smallest <= options.difference;
  const double shown = tested.smallest.value_or(smallest_difference(design, goal));
  const auto by_normal = static_cast<double>(tasks_needed(design, options.difference, shown));
  const auto needed = tasks_by_test(design, chances, by_normal, comparisons.designs, options);
  tested.tasks_needed = enough ? std::min(needed, tasks) : std::max(needed, tasks + 1);
  return tested;
}

void add_forecast(PowerForecast& forecast, const TestedDesign& tested, const PowerOptions& options) {
  const auto& design = forecast.design;
  forecast.draws = tested.draws;
  forecast.smallest = tested.smallest, forecast.smallest_in_family = tested.smallest_in_family;
  forecast.power = tested.power;
  forecast.smallest_normal = smallest_difference(design, options.goal);
  const double shown = forecast.smallest.value_or(forecast.smallest_normal);
  auto cautious = design;
  cautious.between_tasks = forecast.between_upper.value_or(design.between_tasks);
  // `shown` is of the estimate; the bound only says what replicates leave over.
  const double of_estimate = paired_error(design), of_bound = paired_error(cautious);
  if (can_reach(options, design.tasks)) {
    const double ever = shown * std::min(1.0, std::sqrt(cautious.between_tasks / design.tasks) / of_estimate);
    if (ever < 1) forecast.smallest_ever = ever;
    forecast.replicates_needed = replicates_needed(cautious, options.difference, shown * of_bound / of_estimate);
    forecast.replicates_might_help =
        !forecast.replicates_needed && replicates_needed(design, options.difference, shown).has_value();
  }
  forecast.tasks_needed = tested.tasks_needed;
  const double noise = design.noise_a / design.replicates_a + design.noise_b / design.replicates_b;
  forecast.noise_share = noise > 0 ? noise / (design.between_tasks + noise) : 0;
}

}  // namespace nkigrid::aggregate
