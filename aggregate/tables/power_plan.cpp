#include "aggregate/tables/power_plan.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "aggregate/evidence/contrasts.hpp"
#include "aggregate/evidence/shared_tasks.hpp"

namespace nkigrid::aggregate {
namespace {

/// The pilot's comparisons, by the ids of both cells.
class Pilot {
 public:
  Pilot(const ReadRun* source, const VariancePrior& prior) : prior_(prior) {
    if (!source) return;
    const auto& cells = source->run.plan.cells;
    scores_ = collect_scores(source->run, source->ledger, Rule::paper, {});
    for (const auto& cell : scores_) by_id_[cells[cell.cell].id] = &cell;
    for (const auto& pair : compared_cells(source->run.grid, cells)) {
      if (const auto measured = between(cells[pair.a].id, cells[pair.b].id)) measured_.push_back(*measured);
    }
  }

  std::optional<PairVariances> between(const std::string& a, const std::string& b) const {
    const auto in_a = by_id_.find(a), in_b = by_id_.find(b);
    if (in_a == by_id_.end() || in_b == by_id_.end()) return std::nullopt;
    const CellScores* const both[] = {in_a->second, in_b->second};
    const auto shared = share_tasks(both);
    return measured_variances(shared.counts[0], shared.counts[1], prior_);
  }

  std::optional<PairVariances> mean() const { return mean_of(measured_); }

 private:
  VariancePrior prior_;
  std::vector<CellScores> scores_;
  std::map<std::string, const CellScores*> by_id_;
  std::vector<PairVariances> measured_;
};

double shared_count(const jobs::CellSpec& a, const jobs::CellSpec& b) {
  std::vector<std::string> both;
  std::set_intersection(a.tasks.begin(), a.tasks.end(), b.tasks.begin(), b.tasks.end(), std::back_inserter(both));
  return static_cast<double>(both.size());
}

PowerRow design_row(const jobs::CellSpec& a, const jobs::CellSpec& b, const Pilot& pilot, const VariancePrior& prior) {
  PowerRow row;
  row.a = a.id, row.b = b.id;
  auto found = pilot.between(a.id, b.id);
  if (!found) found = pilot.mean();
  row.basis = !found ? "prior" : found->split ? "pilot" : "pilot-total";
  const auto variances = found.value_or(expected_variances(prior));
  row.design = {shared_count(a, b), variances.between_tasks,           variances.noise_a,
                variances.noise_b,  static_cast<double>(a.replicates), static_cast<double>(b.replicates)};
  row.chances = chances_of(variances);
  if (found) row.between_upper = variances.between_upper;
  return row;
}

/// All that the simulation depends on: rows that agree in it share one.
using Key = std::array<double, 7>;

Key key_of(const PowerForecast& row) {
  return {row.design.tasks,    row.design.replicates_a, row.design.replicates_b, row.chances.rate,
          row.chances.share_a, row.chances.share_b,     row.chances.correlation};
}

}  // namespace

std::vector<PowerRow> plan_power(const jobs::Grid& grid, const jobs::Plan& plan, const ReadRun* pilot,
                                 const PowerOptions& options) {
  const Pilot measured(pilot, options.prior);
  std::vector<PowerRow> rows;
  std::set<Key> designs;
  for (const auto& pair : compared_cells(grid, plan.cells)) {
    auto row = design_row(plan.cells[pair.a], plan.cells[pair.b], measured, options.prior);
    if (row.design.tasks == 0) continue;
    row.contrast = pair.contrast->name;
    designs.insert(key_of(row));
    rows.push_back(std::move(row));
  }
  std::map<Key, std::optional<TestedDesign>> known;
  for (auto& row : rows) {
    auto& tested = known[key_of(row)];
    if (!tested) tested = test_design(row.design, row.chances, {rows.size(), designs.size()}, options);
    add_forecast(row, *tested, options);
  }
  return rows;
}

}  // namespace nkigrid::aggregate
