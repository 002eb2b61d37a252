#include "aggregate/tables/pairs.hpp"

#include <algorithm>
#include <set>

#include "aggregate/statistics/combination.hpp"
#include "aggregate/statistics/family.hpp"
#include "aggregate/tables/shared_tasks.hpp"

namespace nkigrid::aggregate {
namespace {

using Side = std::map<std::string, std::string>;

bool matches(const jobs::CellSpec& cell, const Side& side) {
  return std::all_of(side.begin(), side.end(),
                     [&](const auto& wanted) { return value_of(cell, wanted.first) == wanted.second; });
}

// A factor that only one side names, or none, must be equal in both cells.
bool agree_elsewhere(const jobs::CellSpec& a, const jobs::CellSpec& b, const jobs::Contrast& contrast) {
  return origin_of(a.id) == origin_of(b.id) &&
         std::all_of(std::begin(kFactors), std::end(kFactors), [&](const std::string factor) {
           return (contrast.a.contains(factor) && contrast.b.contains(factor)) ||
                  value_of(a, factor) == value_of(b, factor);
         });
}

void test_pair(PairRow& row, const SharedTasks& shared, double level) {
  const auto &a = shared.counts[0], &b = shared.counts[1];
  row.difference = mean_score(a) - mean_score(b);
  row.interval = difference_interval(a, b, level);
  if (row.test == "sign-flip") {
    row.p = sign_flip(difference_sample(a, b));
    return;
  }
  std::uint64_t only_a = 0, only_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    only_a += a[i].passed > b[i].passed;
    only_b += a[i].passed < b[i].passed;
  }
  row.p = mcnemar_exact(only_a, only_b);
}

/// Collects the rows of a family.
class Pairs {
 public:
  Pairs(const jobs::Run& run, const std::vector<CellScores>& scores, const TableOptions& options)
      : run_(run), scores_(scores), options_(options) {}

  std::vector<PairRow> make() {
    std::map<std::uint32_t, const CellScores*> shown;
    for (const auto& cell : scores_) shown[cell.cell] = &cell;
    for (const auto& pair : compared_cells(run_.grid, run_.plan.cells)) {
      if (!shown.contains(pair.a) || !shown.contains(pair.b)) continue;
      for (const auto& scope : scopes_of(*pair.contrast))
        add(*shown[pair.a], *shown[pair.b], pair.contrast->name, scope, family_of(*pair.contrast, scope));
    }
    add_runs();
    adjust();
    return std::move(rows_);
  }

 private:
  const jobs::CellSpec& spec(const CellScores& scores) const { return run_.plan.cells[scores.cell]; }

  // The contrast's own, and those that were asked for.
  std::vector<std::string> scopes_of(const jobs::Contrast& contrast) const {
    auto scopes = contrast.scope;
    std::set<std::string> more;
    for (const auto& task : run_.plan.tasks) {
      if (options_.by == ScopesBy::level) more.insert(task.level);
      if (options_.by == ScopesBy::category) more.insert(std::string(kCategoryScope) + task.category);
    }
    for (const auto& scope : more) {
      if (std::find(scopes.begin(), scopes.end(), scope) == scopes.end()) scopes.push_back(scope);
    }
    return scopes;
  }

  // What is only looked at must not weaken what was declared.
  std::string family_of(const jobs::Contrast& contrast, const std::string& scope) const {
    const bool declared = std::find(contrast.scope.begin(), contrast.scope.end(), scope) != contrast.scope.end();
    return declared ? "contrasts" : options_.by == ScopesBy::level ? "by-level" : "by-category";
  }

  void adjust() {
    std::map<std::string, std::vector<PairRow*>> families;
    for (auto& row : rows_) families[row.family].push_back(&row);
    for (const auto& [name, rows] : families) adjust_rows(rows, options_);
  }

  // A cell that another run made otherwise, against the plain one.
  void add_runs() {
    for (const auto& a : scores_) {
      if (origin_of(spec(a).id).empty()) continue;
      for (const auto& b : scores_) {
        if (spec(b).id == plain_cell(spec(a).id)) add(a, b, "runs", "all", "contrasts");
      }
    }
  }

  void add(const CellScores& a, const CellScores& b, const std::string& contrast, const std::string& scope,
           const std::string& family) {
    const CellScores* const both[] = {&a, &b};
    const auto shared = share_tasks(both, in_scope(run_.plan, scope));
    if (shared.tasks == 0) return;
    PairRow row{
        spec(a).id, spec(b).id, contrast, scope_name(scope), family, shared.tasks, shared.outstanding, {}, {}, {},
        {},         {},         {}};
    row.test = one_replicate(shared) ? "mcnemar-exact" : "sign-flip";
    if (!shared.ids.empty() && (shared.outstanding == 0 || options_.partial)) test_pair(row, shared, options_.level);
    rows_.push_back(std::move(row));
  }

  const jobs::Run& run_;
  const std::vector<CellScores>& scores_;
  const TableOptions& options_;
  std::vector<PairRow> rows_;
};

}  // namespace

std::vector<ComparedCells> compared_cells(const jobs::Grid& grid, const std::vector<jobs::CellSpec>& cells) {
  std::vector<ComparedCells> pairs;
  for (const auto& contrast : grid.contrasts) {
    for (std::uint32_t a = 0; a < cells.size(); ++a) {
      if (!matches(cells[a], contrast.a)) continue;
      for (std::uint32_t b = 0; b < cells.size(); ++b) {
        if (a != b && matches(cells[b], contrast.b) && agree_elsewhere(cells[a], cells[b], contrast))
          pairs.push_back({&contrast, a, b});
      }
    }
  }
  return pairs;
}

std::vector<PairRow> make_pairs(const jobs::Run& run, const std::vector<CellScores>& scores,
                                const TableOptions& options) {
  return Pairs(run, scores, options).make();
}

std::vector<FlipRow> make_flips(const jobs::Run& run, const std::vector<CellScores>& scores,
                                const std::vector<PairRow>& pairs) {
  std::map<std::string, const CellScores*> by_id;
  for (const auto& cell : scores) by_id[run.plan.cells[cell.cell].id] = &cell;
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<FlipRow> flips;
  for (const auto& pair : pairs) {
    if (!seen.insert({pair.a, pair.b}).second) continue;
    const CellScores* const both[] = {by_id.at(pair.a), by_id.at(pair.b)};
    const auto shared = share_tasks(both);
    for (std::size_t i = 0; i < shared.ids.size(); ++i) {
      const auto &a = shared.counts[0][i], &b = shared.counts[1][i];
      if (std::uint64_t{a.passed} * b.replicates != std::uint64_t{b.passed} * a.replicates)
        flips.push_back({pair.a, pair.b, run.plan.tasks[shared.ids[i]].id, a, b});
    }
  }
  return flips;
}

}  // namespace nkigrid::aggregate
