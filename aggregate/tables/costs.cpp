#include "aggregate/tables/costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "aggregate/statistics/drawn.hpp"
#include "aggregate/statistics/limits.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::aggregate {
namespace {

enum class Unit { usd, tokens };

/// The figures of some tasks of a cell.
struct Figures {
  std::vector<double> usd, tokens, passed;
  std::vector<TaskCount> tasks;  ///< for their strata
  std::vector<std::uint32_t> ids;

  const std::vector<double>& of(Unit unit) const { return unit == Unit::usd ? usd : tokens; }
  bool few_pass() const {
    return std::count_if(passed.begin(), passed.end(), [](double p) { return p > 0; }) <= kFewTasks;
  }
};

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const auto value : values) sum += value;
  return sum;
}

double ratio(std::span<const double> sums) { return sums[0] / sums[1]; }
double ratio_of_ratios(std::span<const double> sums) { return (sums[0] / sums[1]) / (sums[2] / sums[3]); }

class Costs {
 public:
  Costs(const jobs::Run& run, const TurnFacts& facts, const TableOptions& options)
      : run_(run), facts_(facts), options_(options) {}

  CostRow make_row(const CellScores& cell) const {
    CostRow row{run_.plan.cells[cell.cell].id};
    Spend total;
    std::uint64_t outstanding = 0;
    for (const auto& task : cell.tasks) {
      total += spend_of(cell, task.task);
      row.scored += task.scored;
      row.passed += task.passed;
      outstanding += task.planned - task.scored;
    }
    row.tokens_in = total.tokens_in, row.tokens_out = total.tokens_out, row.llm_s = total.llm_s;
    row.uncounted_tokens = total.uncounted_tokens, row.uncounted_usd = total.uncounted_usd;
    if (total.usd > 0) row.usd = total.usd;
    if (total.llm_s > 0) row.tokens_per_s = static_cast<double>(total.tokens_out) / total.llm_s;
    if (row.passed > 0 && (outstanding == 0 || options_.partial)) add_ratios(row, figures_of(cell));
    return row;
  }

  void relate(CostRow& row, const CellScores& cell, const CostRow& to, const CellScores& baseline) const {
    if (!row.tokens_per_pass || !to.tokens_per_pass) return;
    const auto unit = row.usd && to.usd ? Unit::usd : Unit::tokens;
    auto own = figures_of(cell), other = figures_of(baseline);
    keep_shared(own, other);
    if (sum_of(own.passed) <= 0 || sum_of(other.passed) <= 0 || sum_of(other.of(unit)) <= 0) return;
    row.relative = (sum_of(own.of(unit)) / sum_of(own.passed)) / (sum_of(other.of(unit)) / sum_of(other.passed));
    row.relative_unit = unit == Unit::usd ? "usd" : "tokens";
    if (&cell == &baseline || own.few_pass() || other.few_pass()) return;
    row.relative_interval =
        drawn_interval({{own.of(unit), own.passed, other.of(unit), other.passed}, strata_of(own.tasks)},
                       ratio_of_ratios, options_.level, keyed_hash({"relative cost", row.cell, to.cell}));
  }

 private:
  const Spend& spend_of(const CellScores& cell, std::uint32_t task) const {
    return facts_.spend[cell.cell * run_.plan.tasks.size() + task];
  }

  Figures figures_of(const CellScores& cell) const {
    Figures figures;
    for (const auto& task : cell.tasks) {
      if (task.scored == 0) continue;
      const auto& spend = spend_of(cell, task.task);
      figures.usd.push_back(spend.usd);
      figures.tokens.push_back(static_cast<double>(spend.tokens_in + spend.tokens_out));
      figures.passed.push_back(task.passed);
      figures.tasks.push_back({task.passed, task.scored, task.stratum});
      figures.ids.push_back(task.task);
    }
    return figures;
  }

  static void keep_shared(Figures& a, Figures& b) {
    const auto keep = [](Figures& figures, const std::vector<std::uint32_t>& ids) {
      Figures kept;
      for (std::size_t i = 0; i < figures.ids.size(); ++i) {
        if (!std::binary_search(ids.begin(), ids.end(), figures.ids[i])) continue;
        kept.usd.push_back(figures.usd[i]);
        kept.tokens.push_back(figures.tokens[i]);
        kept.passed.push_back(figures.passed[i]);
        kept.tasks.push_back(figures.tasks[i]);
        kept.ids.push_back(figures.ids[i]);
      }
      figures = std::move(kept);
    };
    const auto ids = a.ids;
    keep(a, b.ids);
    keep(b, ids);
  }

  void add_ratios(CostRow& row, const Figures& figures) const {
    const auto passed = sum_of(figures.passed);
    row.tokens_per_pass = sum_of(figures.tokens) / passed;
    if (row.usd) row.usd_per_pass = sum_of(figures.usd) / passed;
    if (figures.few_pass()) return;
    const auto interval = [&](Unit unit, const char* what) {
      return drawn_interval({{figures.of(unit), figures.passed}, strata_of(figures.tasks)}, ratio, options_.level,
                            keyed_hash({"cost", what, row.cell}));
    };
    row.tokens_per_pass_interval = interval(Unit::tokens, "tokens");
    if (row.usd) row.usd_per_pass_interval = interval(Unit::usd, "usd");
  }

  const jobs::Run& run_;
  const TurnFacts& facts_;
  const TableOptions& options_;
};

}  // namespace

std::vector<CostRow> make_costs(const jobs::Run& run, const std::vector<CellScores>& scores, const TurnFacts& facts,
                                const TableOptions& options) {
  std::size_t baseline = 0;
  std::vector<std::string> names;
  for (const auto& cell : scores) names.push_back(run.plan.cells[cell.cell].id);
  if (options.baseline) {
    const auto found = std::find(names.begin(), names.end(), *options.baseline);
    if (found == names.end()) {
      throw Error{ErrorCode::usage,
                  fmt::format("no cell '{}' to relate costs to{}; the table has: {}", *options.baseline,
                              did_you_mean(*options.baseline, names), fmt::join(names, ", "))};
    }
    baseline = static_cast<std::size_t>(found - names.begin());
  }
  const Costs costs(run, facts, options);
  std::vector<CostRow> rows;
  for (const auto& cell : scores) rows.push_back(costs.make_row(cell));
  for (std::size_t i = 0; i < rows.size(); ++i) costs.relate(rows[i], scores[i], rows[baseline], scores[baseline]);
  return rows;
}

}  // namespace nkigrid::aggregate
