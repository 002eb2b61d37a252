#include "aggregate/tables/warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "aggregate/statistics/fisher.hpp"
#include "aggregate/tables/claims.hpp"

namespace nkigrid::aggregate {
namespace {

using Warnings = std::vector<std::string>;

const jobs::ModelSpec* find_model(const jobs::Grid& grid, const std::string& name) noexcept {
  const auto found =
      std::find_if(grid.models.begin(), grid.models.end(), [&](const auto& model) { return model.name == name; });
  return found == grid.models.end() ? nullptr : &*found;
}

// Says something of the cells for which the predicate holds; nothing where there is none.
template <class Predicate>
void warn_of_cells_where(const Evidence& evidence, Predicate holds, const char* what, Warnings& warnings) {
  std::vector<std::string> names;
  for (const auto& cell : evidence.scores) {
    if (holds(cell)) names.push_back(evidence.cell(cell).id);
  }
  if (names.empty()) return;
  const auto all = names.size() == evidence.scores.size() && names.size() > 1;
  const auto who = all ? "all cells" : fmt::format("cell{} {}", names.size() == 1 ? "" : "s", fmt::join(names, ", "));
  warnings.push_back(fmt::format("{}: {}", who, what));
}

bool is_cold(const Evidence& evidence, const CellScores& cell) {
  const auto& spec = evidence.cell(cell);
  const auto* model = find_model(evidence.run->grid, spec.model);
  return model && model->temperature == 0.0 && spec.replicates > 1;
}

// Replicates differ between its tasks, and that makes its rate another than passed/episodes.
bool is_weighed(const CellScores& cell) {
  std::uint64_t passed = 0, scored = 0;
  for (const auto& task : cell.tasks) passed += task.passed, scored += task.scored;
  const auto sums = weigh(cell.tasks);
  return !sums.equal &&
         std::abs(sums.passed * static_cast<double>(scored) - sums.scored * static_cast<double>(passed)) > 1e-9;
}

bool same_tasks(const CellScores& a, const CellScores& b) {
  return std::equal(a.tasks.begin(), a.tasks.end(), b.tasks.begin(), b.tasks.end(),
                    [](const auto& x, const auto& y) { return x.task == y.task; });
}

void warn_of_cells(const Evidence& evidence, Warnings& warnings) {
  warn_of_cells_where(
      evidence, [](const auto& cell) { return cell.synthetic; },
      "the replies come from nkigrid's synthetic model, which is not a language model; the rates say nothing about any "
      "real one",
      warnings);
  warn_of_cells_where(
      evidence, [&](const auto& cell) { return is_cold(evidence, cell); },
      "replicates were drawn at temperature 0; they repeat one answer, and intervals do not shrink with them",
      warnings);
  const auto& scores = evidence.scores;
  if (!std::all_of(scores.begin(), scores.end(), [&](const auto& cell) { return same_tasks(cell, scores.front()); })) {
    warnings.push_back(
        "cells have different task sets; compare rates only through pairs, which use the tasks that both have");
  }
  warn_of_cells_where(evidence, is_weighed,
                      "replicates differ between tasks; rates weigh each task alike, and are not passed/episodes",
                      warnings);
}

void warn_of_subset(const Evidence& evidence, Warnings& warnings) {
  if (!evidence.options.subset) return;
  const auto& subset = *evidence.options.subset;
  const auto size = evidence.run->benchmark.subsets.at(subset).size();
  for (const auto& cell : evidence.scores) {
    if (cell.tasks.size() == size) continue;
    warnings.push_back(fmt::format("cell {} has {} of the {} tasks of subset {}", evidence.cell(cell).id,
                                   cell.tasks.size(), size, subset));
  }
}

void warn_of_outstanding(const Evidence& evidence, Warnings& warnings) {
  if (evidence.outstanding == 0) return;
  warnings.push_back(fmt::format("{}{} planned episodes are outstanding; {}",
                                 evidence.options.partial ? "partial: " : "", evidence.outstanding,
                                 evidence.options.partial ? "rates and intervals are over the scored ones only"
                                                          : "bounds are printed in place of rates"));
  // Once every episode is scored, damage has cost nothing that is counted: the same seed gives the same bytes again.
  const auto& ledger = *evidence.ledger;
  const auto damaged = ledger.warnings.size() - ledger.foreign_files - ledger.unproven_files - ledger.copied_files;
  if (damaged > 0) {
    warnings.push_back(fmt::format("the log is damaged in {} place{}; what could not be read is not counted", damaged,
                                   damaged == 1 ? "" : "s"));
  }
}

// Files that lie in the log's folder and are none of the run's, or are there twice.
void warn_of_left_out(const log::Ledger& ledger, Warnings& warnings) {
  if (ledger.foreign_files > 0) {
    warnings.push_back(fmt::format(
        "{} file{} in the log's folder {} of another run and not counted; `log check` names them", ledger.foreign_files,
        ledger.foreign_files == 1 ? "" : "s", ledger.foreign_files == 1 ? "is" : "are"));
  }
  if (ledger.unproven_files > 0) {
    warnings.push_back(fmt::format(
        "{} file{} in the log's folder {} not sealed by the run's key and not counted; `log check` names them",
        ledger.unproven_files, ledger.unproven_files == 1 ? "" : "s", ledger.unproven_files == 1 ? "is" : "are"));
  }
  if (ledger.copied_files > 0) {
    warnings.push_back(fmt::format(
        "{} file{} in the log's folder {} of others and counted once; `log check` names them", ledger.copied_files,
        ledger.copied_files == 1 ? "" : "s", ledger.copied_files == 1 ? "is a copy" : "are copies"));
  }
  if (auto builds = ledger.build_warning(); !builds.empty()) warnings.push_back(std::move(builds));
}

void warn_of_log(const Evidence& evidence, Warnings& warnings) {
  const auto& trust = evidence.ledger->trust;
  warnings.insert(warnings.end(), trust.begin(), trust.end());
  warn_of_left_out(*evidence.ledger, warnings);
  if (evidence.ledger->ignored_rows > 0) {
    warnings.push_back(fmt::format("{} rows of the log belong to another grid (other keys) and are not counted",
                                   evidence.ledger->ignored_rows));
  }
  if (evidence.turns && evidence.turns->episodes_lacking_turns > 0) {
    warnings.push_back(
        fmt::format("damage took turns of {} scored episodes from the log: their verdicts are whole, but errors, "
                    "transitions and cost are of the turns that are left",
                    evidence.turns->episodes_lacking_turns));
  }
}

void warn_of_print(const std::string& what, const PrintedLevel& level, Warnings& warnings) {
  const double percent = 100 * level.rate();
  if (level.printed.empty() || printed_fits(level.printed, percent)) return;
  warnings.push_back(
      fmt::format("{} prints {} %, but {}/{} is {:.2f} %", what, level.printed, level.passed, level.n, percent));
}

void warn_of_prints(const PrintedCell& cell, Warnings& warnings) {
  warn_of_print(fmt::format("{} ({})", cell.cell, cell.subset), {cell.passed, cell.n, cell.printed}, warnings);
  for (const auto& [name, level] : cell.levels)
    warn_of_print(fmt::format("{} ({}, {})", cell.cell, cell.subset, name), level, warnings);
}

// One cell on two task sets: if the smaller set lies inside the larger, the tasks outside it should pass
// about as often.
void compare_subsets(const PrintedCounts& counts, double confidence, Warnings& warnings) {
  for (const auto& small : counts.cells) {
    for (const auto& large : counts.cells) {
      if (small.cell != large.cell || small.n >= large.n || large.passed < small.passed ||
          large.n - small.n < large.passed - small.passed)
        continue;
      const double p = fisher_exact(small.passed, small.n, large.passed - small.passed, large.n - small.n);
      if (p > 1 - confidence) continue;
      warnings.push_back(
          fmt::format("{}: {}/{} on {} and {}/{} on {} disagree (were the smaller set part of the larger, "
                      "the other tasks would pass {}/{}; Fisher p = {:.2g})",
                      small.cell, small.passed, small.n, small.subset, large.passed, large.n, large.subset,
                      large.passed - small.passed, large.n - small.n, p));
    }
  }
}

}  // namespace

std::vector<std::string> make_warnings(const Evidence& evidence) {
  auto warnings = evidence.notices;
  if (evidence.from_counts()) {
    for (const auto& cell : evidence.counts->cells) warn_of_prints(cell, warnings);
    const auto& claims = evidence.once(check_claims).warnings;
    warnings.insert(warnings.end(), claims.begin(), claims.end());
    compare_subsets(*evidence.counts, evidence.options.confidence, warnings);
    return warnings;
  }
  warn_of_cells(evidence, warnings);
  warn_of_subset(evidence, warnings);
  warn_of_outstanding(evidence, warnings);
  warn_of_log(evidence, warnings);
  return warnings;
}

}  // namespace nkigrid::aggregate
