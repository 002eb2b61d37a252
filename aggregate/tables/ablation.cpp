#include "aggregate/tables/ablation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "aggregate/statistics/relative.hpp"
#include "aggregate/tables/shared_tasks.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::aggregate {
namespace {

/// Cells that differ in one factor only, in the grid's order: the first is the baseline.
struct Group {
  std::string context;
  std::vector<const CellScores*> cells;
};

void set_relative(AblationRow& row, RelativeChange change) {
  row.relative = change.change;
  row.relative_interval = std::move(change.interval);
  row.relative_reason = std::move(change.reason);
}

class Ablation {
 public:
  Ablation(const jobs::Run& run, const std::vector<CellScores>& scores, const TableOptions& options)
      : run_(run), scores_(scores), options_(options) {}

  std::vector<AblationRow> make() {
    for (const std::string factor : kFactors) {
      const auto groups = groups_of(factor);
      for (const auto& group : groups) add_group(factor, group);
      add_means(factor, groups);
    }
    return std::move(rows_);
  }

 private:
  const jobs::CellSpec& spec(const CellScores& scores) const { return run_.plan.cells[scores.cell]; }

  std::vector<Group> groups_of(const std::string& factor) const {
    std::vector<Group> groups;
    for (const auto& cell : scores_) {
      const auto context = context_of(spec(cell), factor);
      auto found =
          std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.context == context; });
      if (found == groups.end()) found = groups.insert(groups.end(), {context, {}});
      found->cells.push_back(&cell);
    }
    std::erase_if(groups, [](const auto& group) { return group.cells.size() < 2; });
    for (auto& group : groups) {
      std::stable_partition(group.cells.begin(), group.cells.end(),
                            [&](const auto* cell) { return value_of(spec(*cell), factor) == options_.against; });
    }
    return groups;
  }

  void add_group(const std::string& factor, const Group& group) {
    const auto& baseline = value_of(spec(*group.cells.front()), factor);
    for (const auto* cell : group.cells) {
      AblationRow row{factor,
                      value_of(spec(*cell), factor),
                      baseline,
                      group.context,
                      spec(*cell).id,
                      spec(*cell).subset,
                      static_cast<std::uint32_t>(cell->tasks.size())};
      const auto counts = scored_counts(cell->tasks);
      for (const auto& task : cell->tasks) row.outstanding += task.planned - task.scored;
      if (!counts.empty() && (row.outstanding == 0 || options_.partial)) {
        row.rate = mean_score(counts);
        row.rate_interval = rate_interval(counts, options_.level);
      }
      if (cell != group.cells.front()) compare(row, {cell, group.cells.front()});
      rows_.push_back(std::move(row));
    }
  }

  // Fills the comparison from cells that stand by twos: value, baseline, value, baseline, ...
  void compare(AblationRow& row, const std::vector<const CellScores*>& cells) const {
    const auto shared = share_tasks(cells);
    row.tasks = shared.tasks;
    row.outstanding = shared.outstanding;
    if (shared.ids.empty() || (shared.outstanding > 0 && !options_.partial)) return;
    Combination effect{shared.counts, {}, static_cast<int>(cells.size() / 2)};
    for (std::size_t c = 0; c < cells.size(); ++c) effect.coefficients.push_back(c % 2 == 0 ? 1 : -1);
    row.difference = value_of(effect);
    row.interval = combination_interval(effect, options_.level);
    set_relative(row, relative_change(effect, options_.level,
                                      keyed_hash({"relative change", row.factor, row.value, row.baseline, row.context}),
                                      {.draws = options_.draws}));
  }

  void add_means(const std::string& factor, const std::vector<Group>& groups) {
    if (groups.empty()) return;
    const auto& baseline = value_of(spec(*groups.front().cells.front()), factor);
    std::vector<std::string> values;
    std::map<std::string, std::vector<const CellScores*>> cells;
    for (const auto& group : groups) {
      if (value_of(spec(*group.cells.front()), factor) != baseline) continue;
      for (std::size_t i = 1; i < group.cells.size(); ++i) {
        const auto& value = value_of(spec(*group.cells[i]), factor);
        auto& list = cells[value];
        if (list.empty()) values.push_back(value);
        list.insert(list.end(), {group.cells[i], group.cells.front()});
      }
    }
    for (const auto& value : values) {
      const auto contexts = cells[value].size() / 2;
      if (contexts < 2) continue;
      AblationRow row{factor, value, baseline, fmt::format("mean of {}", contexts), "", ""};
      compare(row, cells[value]);
      if (row.tasks > 0) rows_.push_back(std::move(row));
    }
  }

  const jobs::Run& run_;
  const std::vector<CellScores>& scores_;
  const TableOptions& options_;
  std::vector<AblationRow> rows_;
};

// @throws Error{usage} unless `against` is empty or one of the values
void require_known(const std::string& against, const std::set<std::string>& values) {
  if (against.empty() || values.contains(against)) return;
  const std::vector<std::string> names(values.begin(), values.end());
  throw Error{ErrorCode::usage, fmt::format("no model, mode or prompt is named '{}'{}; there are: {}", against,
                                            did_you_mean(against, names), fmt::join(names, ", "))};
}

}  // namespace

std::vector<AblationRow> make_ablation(const jobs::Run& run, const std::vector<CellScores>& scores,
                                       const TableOptions& options) {
  std::set<std::string> values;
  for (const auto& cell : run.plan.cells) values.insert({cell.model, cell.mode, cell.prompt});
  require_known(options.against, values);
  return Ablation(run, scores, options).make();
}

std::vector<AblationRow> make_ablation(const Counts& counts, double level, const std::string& against) {
  std::set<std::string> values;
  for (const auto& cell : counts.cells) values.insert({cell.model, cell.mode, cell.prompt});
  values.erase("");
  require_known(against, values);
  std::vector<AblationRow> rows;
  const auto add = [&](const std::string& factor, std::string CountedCell::*value, std::string CountedCell::*other) {
    std::vector<std::string> seen;
    for (const auto& first : counts.cells) {
      const auto context = first.*other + (first.prompt.empty() || factor == "prompt" ? "" : "." + first.prompt);
      const auto key = context + " " + first.subset;
      if ((first.*value).empty() || std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
      seen.push_back(key);
      std::vector<const CountedCell*> cells;
      for (const auto& cell : counts.cells) {
        if (cell.subset == first.subset && cell.*other == first.*other && cell.prompt == first.prompt &&
            !(cell.*value).empty())
          cells.push_back(&cell);
      }
      std::stable_partition(cells.begin(), cells.end(), [&](const auto* cell) { return cell->*value == against; });
      std::vector<AblationRow> group;
      for (const auto* cell : cells) {
        const auto& base = *cells.front();
        const auto n = static_cast<double>(cell->n), n0 = static_cast<double>(base.n);
        const double rate = static_cast<double>(cell->passed) / n, rate0 = static_cast<double>(base.passed) / n0;
        AblationRow row{
            factor, cell->*value, base.*value, context, cell->cell, cell->subset, static_cast<std::uint32_t>(cell->n)};
        row.rate = rate;
        row.rate_interval = wilson(rate, n, level);
        if (cell != &base) {
          row.difference = rate - rate0;
          row.interval = newcombe(rate, n, rate0, n0, level);
          set_relative(row, relative_change(rate, n, rate0, n0, level));
        }
        group.push_back(std::move(row));
      }
      if (group.size() > 1) rows.insert(rows.end(), group.begin(), group.end());
    }
  };
  add("model", &CountedCell::model, &CountedCell::mode);
  add("mode", &CountedCell::mode, &CountedCell::model);
  return rows;
}

}  // namespace nkigrid::aggregate
