#include "aggregate/tables/tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "aggregate/statistics/variance.hpp"
#include "aggregate/tables/ablation.hpp"
#include "aggregate/tables/breakdown.hpp"
#include "aggregate/tables/costs.hpp"
#include "aggregate/tables/methods.hpp"
#include "aggregate/tables/pairs.hpp"
#include "aggregate/tables/row_warnings.hpp"
#include "aggregate/tables/warnings.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/hash.hpp"

namespace nkigrid::aggregate {
namespace {

// Over scored episodes when `partial`; the caller has seen to it that some are.
void add_estimates(Rate& rate, const std::vector<TaskScore>& tasks, const TableOptions& options) {
  const auto counts = scored_counts(tasks);
  rate.rate = weigh(tasks).rate();
  rate.interval = options.clopper_pearson
                      ? clopper_pearson(mean_score(counts), static_cast<double>(counts.size()), options.level)
                      : rate_interval(counts, options.level);
  // A partial row's rate weighs episodes, its interval tasks: keep the one inside the other.
  rate.interval->low = std::min(rate.interval->low, *rate.rate);
  rate.interval->high = std::max(rate.interval->high, *rate.rate);
  if (const auto rerun = run_to_run_interval(counts, options.level)) rate.run_to_run = Range{rerun->low, rerun->high};
}

Rate make_rate(const std::vector<TaskScore>& tasks, const TableOptions& options) {
  Rate rate;
  rate.tasks = static_cast<std::uint32_t>(tasks.size());
  std::uint64_t scored = 0;
  for (const auto& task : tasks) {
    rate.replicates = std::max(rate.replicates, task.planned);
    rate.episodes += task.planned;
    rate.passed += task.passed;
    scored += task.scored;
  }
  rate.outstanding = rate.episodes - scored;
  if (rate.outstanding > 0) rate.bounds = Range{weigh(tasks).least(), weigh(tasks).most()};
  if (scored > 0 && (rate.outstanding == 0 || options.partial)) add_estimates(rate, tasks, options);
  return rate;
}

CellRow make_row(const jobs::Plan& plan, const CellScores& scores, const std::vector<std::string>& levels,
                 const TableOptions& options) {
  const auto& spec = plan.cells[scores.cell];
  CellRow row{spec.id,
              spec.model,
              spec.mode,
              spec.prompt,
              options.subset.value_or(spec.subset),
              make_rate(scores.tasks, options),
              {}};
  for (std::uint32_t stratum = 0; stratum < levels.size(); ++stratum) {
    std::vector<TaskScore> part;
    std::copy_if(scores.tasks.begin(), scores.tasks.end(), std::back_inserter(part),
                 [&](const auto& task) { return task.stratum == stratum; });
    if (!part.empty()) row.levels.push_back({levels[stratum], make_rate(part, options)});
  }
  std::map<std::string, std::vector<TaskScore>> categories;
  for (const auto& task : scores.tasks) categories[plan.tasks[task.task].category].push_back(task);
  for (const auto& [category, part] : categories) row.categories.push_back({category, make_rate(part, options)});
  return row;
}

// k = 1, 2, 3, 5, 10, ... and K itself.
std::vector<std::uint32_t> interesting_counts(std::uint32_t replicates) {
  std::vector<std::uint32_t> counts;
  for (const std::uint32_t k : {1u, 2u, 3u, 5u, 10u, 20u, 50u, 100u}) {
    if (k < replicates) counts.push_back(k);
  }
  counts.push_back(replicates);
  return counts;
}

ReplicateRow make_replicates(const CellRow& cell, const CellScores& scores, const TableOptions& options) {
  ReplicateRow row{cell.cell, cell.total.replicates, cell.total.run_to_run, {}, {}};
  const auto counts = scored_counts(scores.tasks);
  if (!cell.total.rate || counts.empty()) return row;
  row.variance = variance_split(counts);
  std::uint32_t most = 0;
  for (const auto& task : counts) most = std::max(most, task.replicates);
  for (const auto k : interesting_counts(most))
    row.pass_at.push_back(
        pass_at_all_tasks(counts, k, options.level, keyed_hash({"pass at", cell.cell, std::to_string(k)})));
  auto& one = row.pass_at.front();  // pass@1 and pass^1 are the rate, and say what `cells` says
  one.any = one.all = *cell.total.rate;
  one.any_interval = one.all_interval = *cell.total.interval;
  return row;
}

void add_comparisons(Tables& tables, const jobs::Run& run, const std::vector<CellScores>& scores,
                     const TableOptions& options) {
  tables.pairs = make_pairs(run, scores, options);
  tables.flips = make_flips(run, scores, tables.pairs);
  tables.ablation = make_ablation(run, scores, options);
  tables.interactions = make_interactions(run, scores, options);
  tables.methods = make_methods(run, scores, options);
  tables.method_pairs = make_method_pairs(run, scores, options);
}

}  // namespace

Tables make_tables(const jobs::Run& run, const log::Ledger& ledger, const TableOptions& options,
                   const TurnFacts* facts) {
  const auto scores = collect_scores(run, ledger, options.rule, options.subset);
  if (scores.empty()) {
    throw Error{ErrorCode::usage,
                fmt::format("no cell of the run has a task of subset '{}'; leave --subset out, or name another",
                            options.subset.value_or(""))};
  }
  Tables tables;
  tables.run = run.grid.name;
  tables.rule = options.rule;
  tables.level = options.level;
  tables.partial = options.partial;
  tables.adjust = options.adjust;
  tables.level_names = level_names(run.plan);
  for (const auto& cell : scores) {
    tables.cells.push_back(make_row(run.plan, cell, tables.level_names, options));
    tables.outstanding += tables.cells.back().total.outstanding;
    tables.replicates.push_back(make_replicates(tables.cells.back(), cell, options));
  }
  tables.breakdowns = make_breakdowns(run, ledger, scores, options.rule, facts);
  tables.rules = make_rules(run, ledger, scores);
  tables.estimates = make_estimates(run, ledger, scores, tables.level_names, options.rule);
  add_comparisons(tables, run, scores, options);
  if (facts) {
    tables.costs = make_costs(run, scores, *facts, options);
    tables.baseline = options.baseline.value_or(tables.costs.front().cell);
  }
  tables.warnings = table_warnings(run, ledger, scores, options, tables.outstanding);
  if (facts && facts->episodes_lacking_turns > 0) {
    tables.warnings.push_back(
        fmt::format("damage took turns of {} scored episodes from the log: their verdicts are whole, but errors, "
                    "transitions and cost "
                    "are of the turns that are left",
                    facts->episodes_lacking_turns));
  }
  tables.row_warnings = row_warnings(tables);
  return tables;
}

Tables make_tables(const Population& population, const TableOptions& options, const TurnFacts* facts) {
  auto tables = make_tables(population.run, population.ledger, options, facts);
  tables.warnings.insert(tables.warnings.begin(), population.warnings.begin(), population.warnings.end());
  return tables;
}

}  // namespace nkigrid::aggregate
