#include "aggregate/tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "aggregate/breakdown.hpp"
#include "aggregate/pairs.hpp"
#include "aggregate/warnings.hpp"
#include "jobs/base/error.hpp"

namespace nkigrid::aggregate {
namespace {

// Over scored episodes when `partial`; the caller has seen to it that some are.
void add_estimates(Rate& rate, const std::vector<TaskCount>& counts, double level) {
  std::uint64_t scored = 0;
  for (const auto& count : counts) scored += count.replicates;
  rate.rate = static_cast<double>(rate.passed) / static_cast<double>(scored);
  rate.interval = rate_interval(counts, level);
  // A partial row's rate weighs episodes, its interval tasks: keep the one inside the other.
  rate.interval->low = std::min(rate.interval->low, *rate.rate);
  rate.interval->high = std::max(rate.interval->high, *rate.rate);
  if (const auto rerun = run_to_run_interval(counts, level)) rate.run_to_run = Range{rerun->low, rerun->high};
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
  if (rate.outstanding > 0) {
    const auto n = static_cast<double>(rate.episodes);
    rate.bounds =
        Range{static_cast<double>(rate.passed) / n, static_cast<double>(rate.passed + rate.outstanding) / n};
  }
  if (scored > 0 && (rate.outstanding == 0 || options.partial))
    add_estimates(rate, scored_counts(tasks), options.level);
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
  for (const auto& [category, part] : categories)
    row.categories.push_back({category, make_rate(part, options)});
  return row;
}

}  // namespace

Tables make_tables(const jobs::Run& run, const log::Ledger& ledger, const TableOptions& options) {
  const auto scores = collect_scores(run, ledger, options.rule, options.subset);
  if (scores.empty()) {
    throw Error{
        ErrorCode::usage,
        fmt::format("no cell of the run has a task of subset '{}'; leave --subset out, or name another",
                    options.subset.value_or(""))};
  }
  Tables tables{run.grid.name,
                options.rule,
                options.level,
                options.partial,
                0,
                level_names(run.plan),
                {},
                {},
                {},
                {},
                {}};
  for (const auto& cell : scores) {
    tables.cells.push_back(make_row(run.plan, cell, tables.level_names, options));
    tables.outstanding += tables.cells.back().total.outstanding;
  }
  tables.breakdowns = make_breakdowns(run, ledger, scores, options.rule);
  tables.pairs = make_pairs(run, scores, options);
  tables.warnings = table_warnings(run, ledger, scores, options, tables.outstanding);
  return tables;
}

}  // namespace nkigrid::aggregate
