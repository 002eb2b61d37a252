#include "aggregate/pairs.hpp"

#include <algorithm>
#include <array>

#include "aggregate/paired.hpp"

namespace nkigrid::aggregate {
namespace {

using Side = std::map<std::string, std::string>;

constexpr std::array<const char*, 3> kFactors{"model", "mode", "prompt"};

const std::string& value_of(const jobs::CellSpec& cell, const std::string& factor) {
  return factor == "model" ? cell.model : factor == "mode" ? cell.mode : cell.prompt;
}

bool matches(const jobs::CellSpec& cell, const Side& side) {
  return std::all_of(side.begin(), side.end(),
                     [&](const auto& wanted) { return value_of(cell, wanted.first) == wanted.second; });
}

// A factor that only one side names, or none, must be equal in both cells.
bool agree_elsewhere(const jobs::CellSpec& a, const jobs::CellSpec& b, const jobs::Contrast& contrast) {
  return std::all_of(kFactors.begin(), kFactors.end(), [&](const std::string factor) {
    return (contrast.a.contains(factor) && contrast.b.contains(factor)) ||
           value_of(a, factor) == value_of(b, factor);
  });
}

/// The tasks that both cells have and that are scored in both, side by side.
struct PairedCounts {
  std::vector<TaskCount> a, b;
  std::uint32_t tasks = 0;        ///< shared, scored or not
  std::uint64_t outstanding = 0;  ///< episodes of shared tasks
};

PairedCounts pair_up(const CellScores& a, const CellScores& b, const std::string& scope,
                     const std::vector<std::string>& levels) {
  PairedCounts pairs;
  auto other = b.tasks.begin();
  for (const auto& task : a.tasks) {
    while (other != b.tasks.end() && other->task < task.task) ++other;
    if (other == b.tasks.end() || other->task != task.task) continue;
    if (scope != "all" && levels[task.stratum] != scope) continue;
    ++pairs.tasks;
    pairs.outstanding += task.planned - task.scored + other->planned - other->scored;
    if (task.scored == 0 || other->scored == 0) continue;
    pairs.a.push_back({task.passed, task.scored, task.stratum});
    pairs.b.push_back({other->passed, other->scored, other->stratum});
  }
  return pairs;
}

bool one_replicate(const std::vector<TaskCount>& tasks) {
  return std::all_of(tasks.begin(), tasks.end(), [](const auto& task) { return task.replicates == 1; });
}

void test_pair(PairRow& row, const PairedCounts& pairs, double level) {
  row.difference = mean_score(pairs.a) - mean_score(pairs.b);
  row.interval = difference_interval(pairs.a, pairs.b, level);
  if (row.test == "sign-flip") {
    row.p = sign_flip(difference_sample(pairs.a, pairs.b));
    return;
  }
  std::uint64_t only_a = 0, only_b = 0;
  for (std::size_t i = 0; i < pairs.a.size(); ++i) {
    only_a += pairs.a[i].passed > pairs.b[i].passed;
    only_b += pairs.a[i].passed < pairs.b[i].passed;
  }
  row.p = mcnemar_exact(only_a, only_b);
}

void adjust(std::vector<PairRow>& rows, double level) {
  std::vector<double> p;
  for (const auto& row : rows) {
    if (row.p) p.push_back(*row.p);
  }
  const auto adjusted = holm(p, rows.size());
  std::size_t next = 0;
  for (auto& row : rows) {
    if (!row.p) continue;
    row.p_holm = adjusted[next++];
    const bool separated = *row.p_holm <= 1 - level;
    row.verdict = !separated ? "not-separated" : *row.difference > 0 ? "a-better" : "b-better";
  }
}

}  // namespace

std::vector<PairRow> make_pairs(const jobs::Run& run, const std::vector<CellScores>& scores,
                                const TableOptions& options) {
  const auto& cells = run.plan.cells;
  const auto levels = level_names(run.plan);
  std::vector<PairRow> rows;
  const auto add = [&](const CellScores& a, const CellScores& b, const jobs::Contrast& contrast,
                       const std::string& scope) {
    const auto pairs = pair_up(a, b, scope, levels);
    if (pairs.tasks == 0) return;
    PairRow row{cells[a.cell].id,
                cells[b.cell].id,
                contrast.name,
                scope,
                "contrasts",
                pairs.tasks,
                pairs.outstanding,
                {},
                {},
                {},
                {},
                {},
                {}};
    row.test = one_replicate(pairs.a) && one_replicate(pairs.b) ? "mcnemar-exact" : "sign-flip";
    if (!pairs.a.empty() && (pairs.outstanding == 0 || options.partial)) test_pair(row, pairs, options.level);
    rows.push_back(std::move(row));
  };
  for (const auto& contrast : run.grid.contrasts) {
    for (const auto& a : scores) {
      if (!matches(cells[a.cell], contrast.a)) continue;
      for (const auto& b : scores) {
        if (&a == &b || !matches(cells[b.cell], contrast.b) ||
            !agree_elsewhere(cells[a.cell], cells[b.cell], contrast))
          continue;
        for (const auto& scope : contrast.scope) add(a, b, contrast, scope);
      }
    }
  }
  adjust(rows, options.level);
  return rows;
}

}  // namespace nkigrid::aggregate
