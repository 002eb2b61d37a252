#include "aggregate/tables/warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nkigrid::aggregate {
namespace {

const jobs::ModelSpec* find_model(const jobs::Grid& grid, const std::string& name) noexcept {
  const auto found =
      std::find_if(grid.models.begin(), grid.models.end(), [&](const auto& model) { return model.name == name; });
  return found == grid.models.end() ? nullptr : &*found;
}

std::string name_cells(const std::vector<std::string>& names, std::size_t of) {
  if (names.size() == of) return of == 1 ? fmt::format("cell {}", names.front()) : "all cells";
  return fmt::format("cell{} {}", names.size() == 1 ? "" : "s", fmt::join(names, ", "));
}

template <class Predicate>
std::vector<std::string> cells_where(const jobs::Plan& plan, const std::vector<CellScores>& scores,
                                     Predicate predicate) {
  std::vector<std::string> names;
  for (const auto& cell : scores) {
    if (predicate(cell)) names.push_back(plan.cells[cell.cell].id);
  }
  return names;
}

bool same_tasks(const CellScores& a, const CellScores& b) {
  return std::equal(a.tasks.begin(), a.tasks.end(), b.tasks.begin(), b.tasks.end(),
                    [](const auto& x, const auto& y) { return x.task == y.task; });
}

void warn_of_subset(const jobs::Run& run, const std::vector<CellScores>& scores, const std::string& subset,
                    std::vector<std::string>& warnings) {
  const auto size = run.benchmark.subsets.at(subset).size();
  for (const auto& cell : scores) {
    if (cell.tasks.size() == size) continue;
    warnings.push_back(fmt::format("cell {} has {} of the {} tasks of subset {}", run.plan.cells[cell.cell].id,
                                   cell.tasks.size(), size, subset));
  }
}

// Files that lie in the log's folder and are none of the run's, or are there twice.
void warn_of_left_out(const log::Ledger& ledger, std::vector<std::string>& warnings) {
  if (ledger.foreign_files > 0) {
    warnings.push_back(fmt::format(
        "{} file{} in the log's folder {} of another run and not counted; `log check` names them", ledger.foreign_files,
        ledger.foreign_files == 1 ? "" : "s", ledger.foreign_files == 1 ? "is" : "are"));
  }
  if (ledger.copied_files > 0) {
    warnings.push_back(fmt::format(
        "{} file{} in the log's folder {} of others and counted once; `log check` names them", ledger.copied_files,
        ledger.copied_files == 1 ? "" : "s", ledger.copied_files == 1 ? "is a copy" : "are copies"));
  }
}

}  // namespace

std::vector<std::string> table_warnings(const jobs::Run& run, const log::Ledger& ledger,
                                        const std::vector<CellScores>& scores, const TableOptions& options,
                                        std::uint64_t outstanding) {
  std::vector<std::string> warnings;
  const auto& plan = run.plan;
  const auto synthetic = cells_where(plan, scores, [](const auto& cell) { return cell.synthetic; });
  if (!synthetic.empty()) {
    warnings.push_back(
        fmt::format("{}: the replies come from nkigrid's synthetic model, which is not a language model; the rates say "
                    "nothing about any real one",
                    name_cells(synthetic, scores.size())));
  }
  const auto cold = cells_where(plan, scores, [&](const auto& cell) {
    const auto* model = find_model(run.grid, plan.cells[cell.cell].model);
    return model && model->temperature == 0.0 && plan.cells[cell.cell].replicates > 1;
  });
  if (!cold.empty()) {
    warnings.push_back(
        fmt::format("{}: replicates were drawn at temperature 0; they repeat one answer, and intervals do "
                    "not shrink with them",
                    name_cells(cold, scores.size())));
  }
  const bool mixed =
      std::any_of(scores.begin(), scores.end(), [&](const auto& cell) { return !same_tasks(cell, scores.front()); });
  if (mixed)
    warnings.push_back(
        "cells have different task sets; compare rates only through pairs, which use the tasks that both "
        "have");
  const auto unequal = cells_where(plan, scores, [](const auto& cell) {
    std::uint64_t passed = 0, scored = 0;
    for (const auto& task : cell.tasks) passed += task.passed, scored += task.scored;
    const auto sums = weigh(cell.tasks);
    return !sums.equal &&
           std::abs(sums.passed * static_cast<double>(scored) - sums.scored * static_cast<double>(passed)) > 1e-9;
  });
  if (!unequal.empty()) {
    warnings.push_back(
        fmt::format("{}: replicates differ between tasks; rates weigh each task alike, and are not passed/episodes",
                    name_cells(unequal, scores.size())));
  }
  if (options.subset) warn_of_subset(run, scores, *options.subset, warnings);
  if (outstanding > 0) {
    warnings.push_back(
        options.partial
            ? fmt::format("partial: {} planned episodes are outstanding; rates and intervals are over the "
                          "scored ones only",
                          outstanding)
            : fmt::format("{} planned episodes are outstanding; bounds are printed in place of rates", outstanding));
  }
  // Once every episode is scored, damage has cost nothing that is counted: the same seed gives the same bytes again.
  const auto left_out = ledger.foreign_files + ledger.copied_files;
  if (outstanding > 0 && ledger.warnings.size() > left_out) {
    warnings.push_back(fmt::format("the log is damaged in {} place{}; what could not be read is not counted",
                                   ledger.warnings.size() - left_out,
                                   ledger.warnings.size() - left_out == 1 ? "" : "s"));
  }
  warn_of_left_out(ledger, warnings);
  if (ledger.ignored_rows > 0) {
    warnings.push_back(
        fmt::format("{} rows of the log belong to another grid (other keys) and are not counted", ledger.ignored_rows));
  }
  return warnings;
}

}  // namespace nkigrid::aggregate
