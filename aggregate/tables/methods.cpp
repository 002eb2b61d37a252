#include "aggregate/tables/methods.hpp"

#include <algorithm>

#include "aggregate/statistics/checkpoints.hpp"
#include "aggregate/statistics/drawn.hpp"
#include "aggregate/statistics/family.hpp"
#include "aggregate/tables/shared_tasks.hpp"

namespace nkigrid::aggregate {
namespace {

/// The cells of one method in one mode and prompt.
struct Method {
  std::string name, context;
  const jobs::CellSpec* spec = nullptr;  ///< the first one's
  std::vector<const CellScores*> cells;
};

std::string method_of(const jobs::Grid& grid, const std::string& model) {
  for (const auto& spec : grid.models) {
    if (spec.name == model) return spec.method.value_or(model);
  }
  return model;
}

bool has_methods(const jobs::Grid& grid) {
  return std::any_of(grid.models.begin(), grid.models.end(),
                     [](const auto& model) { return model.method.has_value(); });
}

std::vector<Method> methods_of(const jobs::Run& run, const std::vector<CellScores>& scores) {
  std::vector<Method> methods;
  if (!has_methods(run.grid)) return methods;
  for (const auto& cell : scores) {
    const auto& spec = run.plan.cells[cell.cell];
    const auto name = method_of(run.grid, spec.model), context = context_of(spec, "model");
    auto found = std::find_if(methods.begin(), methods.end(),
                              [&](const auto& method) { return method.name == name && method.context == context; });
    if (found == methods.end()) found = methods.insert(methods.end(), {name, context, &spec, {}});
    found->cells.push_back(&cell);
  }
  return methods;
}

CheckpointScores scores_of(std::span<const std::vector<TaskCount>> cells) {
  CheckpointScores scores;
  for (const auto& tasks : cells) {
    auto& own = scores.emplace_back();
    for (const auto& task : tasks) own.push_back(static_cast<double>(task.passed) / task.replicates);
  }
  return scores;
}

bool is_ready(const SharedTasks& shared, const TableOptions& options) {
  return !shared.ids.empty() && (shared.outstanding == 0 || options.partial);
}

PairRow compare(const Method& a, const Method& b, const TableOptions& options) {
  auto cells = a.cells;
  cells.insert(cells.end(), b.cells.begin(), b.cells.end());
  const auto shared = share_tasks(cells);
  PairRow row{a.name, b.name,         a.context, "all", "methods", shared.tasks, shared.outstanding, {},
              {},     "checkpoint-t", {},        {},    {}};
  if (a.cells.size() < 2 && b.cells.size() < 2) row.test.clear();  // nothing tells how checkpoints scatter
  if (!is_ready(shared, options)) return row;
  const std::span all(shared.counts);
  const auto result =
      checkpoint_difference(scores_of(all.first(a.cells.size())), scores_of(all.subspan(a.cells.size())),
                            strata_of(shared.counts[0]), options.level);
  row.difference = result.difference;
  row.interval = result.interval;
  row.p = result.p;
  return row;
}

}  // namespace

std::vector<MethodRow> make_methods(const jobs::Run& run, const std::vector<CellScores>& scores,
                                    const TableOptions& options) {
  std::vector<MethodRow> rows;
  for (const auto& method : methods_of(run, scores)) {
    const auto shared = share_tasks(method.cells);
    MethodRow row{method.name, method.spec->mode, method.spec->prompt, {}, shared.tasks, shared.outstanding, {}, {},
                  {}};
    for (const auto* cell : method.cells) row.cells.push_back(run.plan.cells[cell->cell].id);
    if (is_ready(shared, options)) {
      const auto mean = checkpoint_mean(scores_of(shared.counts), strata_of(shared.counts[0]), options.level);
      row.rate = mean.mean;
      row.between_checkpoints = mean.between_checkpoints;
      row.interval = mean.interval;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<PairRow> make_method_pairs(const jobs::Run& run, const std::vector<CellScores>& scores,
                                       const TableOptions& options) {
  const auto methods = methods_of(run, scores);
  std::vector<PairRow> rows;
  for (const auto& a : methods) {
    const auto b =
        std::find_if(methods.begin(), methods.end(), [&](const auto& other) { return other.context == a.context; });
    if (b->name != a.name) rows.push_back(compare(a, *b, options));
  }
  std::erase_if(rows, [](const auto& row) { return row.tasks == 0; });
  adjust_family(rows, options);
  return rows;
}

}  // namespace nkigrid::aggregate
