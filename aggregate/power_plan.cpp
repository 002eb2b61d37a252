#include "aggregate/power_plan.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "aggregate/pairs.hpp"
#include "aggregate/shared_tasks.hpp"
#include "aggregate/variance.hpp"

namespace nkigrid::aggregate {
namespace {

/// Variances of one replicate's paired difference.
struct Measured {
  double between_tasks = 0, noise_a = 0, noise_b = 0;
  bool split = true;  ///< false: only the total was measured
};

Measured from_prior(const VariancePrior& prior) {
  const double total = prior.rate * (1 - prior.rate), tasks = total * prior.share_of_tasks;
  return {2 * tasks * (1 - prior.correlation), total - tasks, total - tasks, true};
}

double square_mean(const SharedTasks& shared) {
  double sum = 0, square = 0;
  const auto n = static_cast<double>(shared.ids.size());
  for (std::size_t i = 0; i < shared.ids.size(); ++i) {
    const auto &a = shared.counts[0][i], &b = shared.counts[1][i];
    const double d =
        static_cast<double>(a.passed) / a.replicates - static_cast<double>(b.passed) / b.replicates;
    sum += d;
    square += d * d;
  }
  return (square - sum * sum / n) / (n - 1);
}

std::optional<Measured> measure(const SharedTasks& shared, const VariancePrior& prior) {
  if (shared.ids.size() < 2) return std::nullopt;
  const auto &a = shared.counts[0], &b = shared.counts[1];
  const auto in_a = variance_split(a), in_b = variance_split(b);
  const auto paired = difference_variance(a, b);
  if (in_a && in_b && paired)
    return Measured{paired->between_tasks, in_a->between_replicates, in_b->between_replicates, true};
  // One replicate cannot tell task from chance: the total is split in the prior's proportions.
  const auto guess = from_prior(prior);
  const double scale = square_mean(shared) / (guess.between_tasks + guess.noise_a + guess.noise_b);
  return Measured{guess.between_tasks * scale, guess.noise_a * scale, guess.noise_b * scale, false};
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
    return Measured{sum_.between_tasks / pairs_, sum_.noise_a / pairs_, sum_.noise_b / pairs_, sum_.split};
  }

 private:
  void add(const Measured& measured) {
    sum_.between_tasks += measured.between_tasks;
    sum_.noise_a += measured.noise_a;
    sum_.noise_b += measured.noise_b;
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
  std::set_intersection(a.tasks.begin(), a.tasks.end(), b.tasks.begin(), b.tasks.end(),
                        std::back_inserter(both));
  return static_cast<double>(both.size());
}

void forecast(PowerRow& row, std::size_t family, const PowerOptions& options) {
  const auto& design = row.design;
  const auto& goal = options.goal;
  row.smallest = smallest_difference(design, goal);
  row.smallest_in_family =
      smallest_difference(design, {goal.alpha / static_cast<double>(family), goal.power});
  auto endless = design;
  endless.replicates_a = endless.replicates_b = std::numeric_limits<double>::infinity();
  row.smallest_ever = smallest_difference(endless, goal);
  row.power = paired_power(design, options.difference, goal.alpha);
  row.replicates_needed = replicates_needed(design, options.difference, goal);
  row.tasks_needed = tasks_needed(design, options.difference, goal);
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
    PowerRow row{pair.contrast->name, a.id, b.id, "prior", {}};
    row.design.tasks = shared_count(a, b);
    if (row.design.tasks == 0) continue;
    auto found = measured.between(a.id, b.id);
    if (!found) found = measured.mean();
    if (found) row.basis = found->split ? "pilot" : "pilot-total";
    const auto variances = found.value_or(from_prior(options.prior));
    row.design.between_tasks = variances.between_tasks;
    row.design.noise_a = variances.noise_a, row.design.noise_b = variances.noise_b;
    row.design.replicates_a = a.replicates, row.design.replicates_b = b.replicates;
    rows.push_back(std::move(row));
  }
  for (auto& row : rows) forecast(row, rows.size(), options);
  return rows;
}

}  // namespace nkigrid::aggregate
