#include "aggregate/tables/power_plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "aggregate/statistics/normal.hpp"
#include "aggregate/statistics/variance.hpp"
#include "aggregate/tables/pairs.hpp"
#include "aggregate/tables/shared_tasks.hpp"

namespace nkigrid::aggregate {
namespace {

/// Variances of one replicate's paired difference, and the rates they belong to.
struct Measured {
  double between_tasks = 0, noise_a = 0, noise_b = 0;
  double rate_a = 0, rate_b = 0;
  double between_upper = 0;  ///< bound of between_tasks
  bool split = true;         ///< false: only the total was measured
};

Measured from_prior(const VariancePrior& prior) {
  const double total = prior.rate * (1 - prior.rate), tasks = total * prior.share_of_tasks;
  const double between = 2 * tasks * (1 - prior.correlation);
  return {between, total - tasks, total - tasks, prior.rate, prior.rate, between, true};
}

// Half a pass more and half a failure: no rate is 0 or 1.
double inner_rate(const std::vector<TaskCount>& tasks) {
  const auto n = static_cast<double>(tasks.size());
  return (mean_score(tasks) * n + 0.5) / (n + 1);
}

std::optional<Measured> measure(const SharedTasks& shared, const VariancePrior& prior) {
  const auto &a = shared.counts[0], &b = shared.counts[1];
  const auto spread = difference_spread(a, b);
  if (!spread || spread->variance <= 0) return std::nullopt;
  Measured measured{0, 0, 0, inner_rate(a), inner_rate(b)};
  double noise = 0;  // of the replicates, in the spread
  const auto in_a = variance_split(a), in_b = variance_split(b);
  const auto paired = difference_variance(a, b);
  if (in_a && in_b && paired) {
    measured.between_tasks = paired->between_tasks;
    measured.noise_a = in_a->between_replicates, measured.noise_b = in_b->between_replicates;
    noise = paired->between_replicates;
  } else {
    // One replicate cannot tell task from chance: the total is split in the prior's proportions.
    const auto guess = from_prior(prior);
    const double scale = spread->variance / (guess.between_tasks + guess.noise_a + guess.noise_b);
    measured.between_tasks = guess.between_tasks * scale;
    measured.noise_a = guess.noise_a * scale, measured.noise_b = guess.noise_b * scale;
    noise = measured.noise_a + measured.noise_b;
    measured.split = false;
  }
  // What replicates take from the spread is at most all of it: an estimate that was cut at 0 has a bound above 0.
  measured.between_upper = spread->upper(kPilotConfidence) - std::min(noise, spread->variance);
  return measured;
}

// The Beta chances that have these variances at these rates.
PairModel model_of(const Measured& measured) {
  const auto variance = [](double rate) { return rate * (1 - rate); };
  const auto share = [&](double rate, double noise) { return std::clamp(1 - noise / variance(rate), 0.02, 0.98); };
  PairModel model{measured.rate_b, share(measured.rate_a, measured.noise_a), share(measured.rate_b, measured.noise_b),
                  0};
  const double in_a = model.share_a * variance(measured.rate_a), in_b = model.share_b * variance(measured.rate_b);
  model.correlation = std::clamp((in_a + in_b - measured.between_tasks) / (2 * std::sqrt(in_a * in_b)), -1.0, 1.0);
  return model;
}

/// The pilot's comparisons, by the ids of both cells.
class Pilot {
 public:
  Pilot(const ReadRun* source, const VariancePrior& prior) : prior_(prior) {
    if (!source) return;
    scores_ = collect_scores(source->run, source->ledger, Rule::paper, {});
    for (const auto& cell : scores_) by_id_[source->run.plan.cells[cell.cell].id] = &cell;
    for (const auto& pair : compared_cells(source->run.grid, source->run.plan.cells)) {
      if (const auto measured = between(source->run.plan.cells[pair.a].id, source->run.plan.cells[pair.b].id))
        add(*measured);
    }
  }

  std::optional<Measured> between(const std::string& a, const std::string& b) const {
    const auto in_a = by_id_.find(a), in_b = by_id_.find(b);
    if (in_a == by_id_.end() || in_b == by_id_.end()) return std::nullopt;
    const CellScores* const both[] = {in_a->second, in_b->second};
    return measure(share_tasks(both), prior_);
  }

  std::optional<Measured> mean() const {
    if (pairs_ == 0) return std::nullopt;
    return Measured{sum_.between_tasks / pairs_,
                    sum_.noise_a / pairs_,
                    sum_.noise_b / pairs_,
                    sum_.rate_a / pairs_,
                    sum_.rate_b / pairs_,
                    sum_.between_upper / pairs_,
                    sum_.split};
  }

 private:
  void add(const Measured& measured) {
    sum_.between_tasks += measured.between_tasks;
    sum_.noise_a += measured.noise_a;
    sum_.noise_b += measured.noise_b;
    sum_.rate_a += measured.rate_a;
    sum_.rate_b += measured.rate_b;
    sum_.between_upper += measured.between_upper;
    sum_.split &= measured.split;
    ++pairs_;
  }

  VariancePrior prior_;
  std::vector<CellScores> scores_;
  std::map<std::string, const CellScores*> by_id_;
  Measured sum_;
  double pairs_ = 0;
};

double shared_count(const jobs::CellSpec& a, const jobs::CellSpec& b) {
  std::vector<std::string> both;
  std::set_intersection(a.tasks.begin(), a.tasks.end(), b.tasks.begin(), b.tasks.end(), std::back_inserter(both));
  return static_cast<double>(both.size());
}

PairSize size_of(const PairedDesign& design) {
  return {static_cast<std::uint32_t>(design.tasks), static_cast<std::uint32_t>(design.replicates_a),
          static_cast<std::uint32_t>(design.replicates_b)};
}

/// All that the simulation depends on: rows that agree in it share one.
using Key = std::array<double, 7>;

Key key_of(const PowerRow& row) {
  return {row.design.tasks,  row.design.replicates_a, row.design.replicates_b, row.model.rate,
          row.model.share_a, row.model.share_b,       row.model.correlation};
}

/// A row's forecast by the test itself.
struct Tested {
  std::optional<double> smallest, smallest_in_family;
  double power = 0;
  std::uint32_t draws = 0;
  std::uint64_t tasks_needed = 0;
};

// So many that a grid of any size is forecast in seconds.
std::uint32_t draws_for(double tasks, std::size_t designs) {
  constexpr double kTaskDraws = 1.5e6;
  return static_cast<std::uint32_t>(std::clamp(kTaskDraws / (tasks * static_cast<double>(designs)), 300.0, 2000.0));
}

// Tasks from which on the test shows the wanted difference: from where the normal approximation puts them, corrected by
// the power there.
std::uint64_t tasks_by_test(const PowerRow& row, double shown, std::size_t designs, const PowerOptions& options) {
  constexpr double kMostTasks = 2000;  // beyond, the two agree
  constexpr int kSteps = 3;
  const auto& goal = options.goal;
  const double critical = critical_value(1 - goal.alpha),
               wanted = critical + normal_quantile({goal.power, 1 - goal.power});
  auto tasks = static_cast<double>(tasks_needed(row.design, options.difference, shown));
  for (int step = 0; step < kSteps && tasks <= kMostTasks; ++step) {
    auto size = size_of(row.design);
    size.tasks = static_cast<std::uint32_t>(tasks);
    TestPower test(row.model, size, {goal.alpha}, draws_for(tasks, designs));
    const double power = std::clamp(test.at(options.difference)[0], 0.1, 0.999);
    tasks = std::ceil(tasks * std::pow(wanted / (critical + normal_quantile({power, 1 - power})), 2));
  }
  return static_cast<std::uint64_t>(tasks);
}

Tested test_design(const PowerRow& row, std::size_t family, std::size_t designs, const PowerOptions& options) {
  const auto& goal = options.goal;
  TestPower power(row.model, size_of(row.design), {goal.alpha, goal.alpha / static_cast<double>(family)},
                  draws_for(row.design.tasks, designs));
  Tested tested;
  tested.smallest = power.smallest(0, goal.power);
  tested.smallest_in_family = power.smallest(1, goal.power);
  tested.power = power.at(options.difference)[0];
  tested.draws = power.draws();
  const auto tasks = static_cast<std::uint64_t>(row.design.tasks);
  const bool enough = tested.smallest && *tested.smallest <= options.difference;
  tested.tasks_needed =
      tasks_by_test(row, tested.smallest.value_or(smallest_difference(row.design, goal)), designs, options);
  tested.tasks_needed = enough ? std::min(tested.tasks_needed, tasks) : std::max(tested.tasks_needed, tasks + 1);
  return tested;
}

void forecast(PowerRow& row, const Tested& tested, const PowerOptions& options) {
  const auto& design = row.design;
  row.draws = tested.draws;
  row.smallest = tested.smallest, row.smallest_in_family = tested.smallest_in_family;
  row.power = tested.power;
  row.smallest_normal = smallest_difference(design, options.goal);
  const double shown = row.smallest.value_or(row.smallest_normal);
  auto cautious = design;
  cautious.between_tasks = row.between_upper.value_or(design.between_tasks);
  row.smallest_ever = shown * std::min(1.0, std::sqrt(cautious.between_tasks / design.tasks) / paired_error(design));
  // `shown` is of the estimate; the bound only says what replicates leave over.
  const double of_estimate = paired_error(design), of_bound = paired_error(cautious);
  row.replicates_needed = replicates_needed(cautious, options.difference, shown * of_bound / of_estimate);
  row.replicates_might_help =
      !row.replicates_needed && replicates_needed(design, options.difference, shown).has_value();
  row.tasks_needed = tested.tasks_needed;
  const double noise = design.noise_a / design.replicates_a + design.noise_b / design.replicates_b;
  row.noise_share = noise > 0 ? noise / (design.between_tasks + noise) : 0;
}

}  // namespace

std::vector<PowerRow> plan_power(const jobs::Grid& grid, const jobs::Plan& plan, const ReadRun* pilot,
                                 const PowerOptions& options) {
  const Pilot measured(pilot, options.prior);
  std::vector<PowerRow> rows;
  for (const auto& pair : compared_cells(grid, plan.cells)) {
    const auto &a = plan.cells[pair.a], &b = plan.cells[pair.b];
    PowerRow row{pair.contrast->name, a.id, b.id, "prior", {}, {}};
    row.design.tasks = shared_count(a, b);
    if (row.design.tasks == 0) continue;
    auto found = measured.between(a.id, b.id);
    if (!found) found = measured.mean();
    if (found) row.basis = found->split ? "pilot" : "pilot-total";
    const auto variances = found.value_or(from_prior(options.prior));
    row.design.between_tasks = variances.between_tasks;
    row.design.noise_a = variances.noise_a, row.design.noise_b = variances.noise_b;
    row.design.replicates_a = a.replicates, row.design.replicates_b = b.replicates;
    row.model = model_of(variances);
    if (found) row.between_upper = variances.between_upper;
    rows.push_back(std::move(row));
  }
  std::set<Key> designs;
  for (const auto& row : rows) designs.insert(key_of(row));
  std::map<Key, std::optional<Tested>> known;
  for (auto& row : rows) {
    auto& tested = known[key_of(row)];
    if (!tested) tested = test_design(row, rows.size(), designs.size(), options);
    forecast(row, *tested, options);
  }
  return rows;
}

}  // namespace nkigrid::aggregate
