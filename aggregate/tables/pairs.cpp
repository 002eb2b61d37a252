#include "aggregate/tables/pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "aggregate/evidence/contrasts.hpp"
#include "aggregate/evidence/factors.hpp"
#include "aggregate/evidence/shared_tasks.hpp"
#include "aggregate/statistics/combination.hpp"
#include "aggregate/tables/count_pairs.hpp"
#include "aggregate/tables/family.hpp"
#include "aggregate/tables/json_values.hpp"
#include "aggregate/tables/table.hpp"

namespace nkigrid::aggregate {
namespace {

/// Collects the rows of a run.
class Pairs {
 public:
  explicit Pairs(const Evidence& evidence) : evidence_(evidence), options_(evidence.options) {}

  std::vector<PairRow> make() {
    const auto& run = *evidence_.run;
    std::map<std::uint32_t, const CellScores*> shown;
    for (const auto& cell : evidence_.scores) shown[cell.cell] = &cell;
    for (const auto& pair : compared_cells(run.grid, run.plan.cells)) {
      if (!shown.contains(pair.a) || !shown.contains(pair.b)) continue;
      for (const auto& scope : scopes_of(*pair.contrast))
        add(*shown[pair.a], *shown[pair.b], pair.contrast->name, scope, family_of(*pair.contrast, scope));
    }
    add_runs();
    adjust();
    return std::move(rows_);
  }

 private:
  // Scopes that --by asks for beside those of the contrasts.
  std::set<std::string> scopes_by() const {
    std::set<std::string> scopes;
    for (const auto& task : evidence_.run->plan.tasks) {
      if (options_.by == ScopesBy::level) scopes.insert(task.level);
      if (options_.by == ScopesBy::category) scopes.insert(std::string(kCategoryScope) + task.category);
    }
    return scopes;
  }

  // The contrast's own, and those that were asked for.
  std::vector<std::string> scopes_of(const jobs::Contrast& contrast) const {
    auto scopes = contrast.scope;
    for (const auto& scope : scopes_by()) {
      if (std::find(scopes.begin(), scopes.end(), scope) == scopes.end()) scopes.push_back(scope);
    }
    return scopes;
  }

  // What is only looked at must not weaken what was declared.
  std::string family_of(const jobs::Contrast& contrast, const std::string& scope) const {
    const bool declared = std::find(contrast.scope.begin(), contrast.scope.end(), scope) != contrast.scope.end();
    return declared ? "contrasts" : family_by();
  }
  std::string family_by() const { return options_.by == ScopesBy::level ? "by-level" : "by-category"; }

  void adjust() {
    std::map<std::string, std::vector<PairRow*>> families;
    for (auto& row : rows_) families[row.family].push_back(&row);
    for (const auto& [name, rows] : families) adjust_rows(rows, options_);
  }

  // A cell that another run made otherwise, against the plain one.
  void add_runs() {
    for (const auto& a : evidence_.scores) {
      const auto& id = evidence_.cell(a).id;
      if (run_of(id).empty()) continue;
      for (const auto& b : evidence_.scores) {
        if (evidence_.cell(b).id != plain_cell(id)) continue;
        add(a, b, "runs", "all", "contrasts");
        for (const auto& scope : scopes_by()) add(a, b, "runs", scope, family_by());
      }
    }
  }

  void add(const CellScores& a, const CellScores& b, const std::string& contrast, const std::string& scope,
           const std::string& family) {
    const CellScores* const both[] = {&a, &b};
    const auto shared = share_tasks(both, in_scope(evidence_.run->plan, scope));
    if (shared.tasks == 0) return;
    PairRow row{.a = evidence_.cell(a).id,
                .b = evidence_.cell(b).id,
                .contrast = contrast,
                .scope = scope_name(scope),
                .family = family,
                .tasks = shared.tasks,
                .outstanding = shared.outstanding};
    row.test = test_name(one_replicate(shared), options_.test);
    if (is_ready(shared, options_.partial)) {
      const auto found = compare(shared.counts[0], shared.counts[1], options_.confidence, options_.test);
      row.difference = found.value;
      row.interval = found.interval;
      row.p = found.p;
    }
    rows_.push_back(std::move(row));
  }

  const Evidence& evidence_;
  const TableOptions& options_;
  std::vector<PairRow> rows_;
};

Sheet display_pairs(const Evidence& evidence) {
  if (evidence.from_counts()) return display_count_pairs(evidence, evidence.once(make_pairs));
  const auto& rows = evidence.once(make_pairs);
  Sheet sheet{.caption = caption_of(evidence, "paired differences a - b in points"),
              .columns = {{"a"},
                          {"b"},
                          {"scope"},
                          {"tasks", Align::right},
                          {"a - b", Align::right},
                          {"interval"},
                          {"test"},
                          {"p", Align::right},
                          {adjusted_head(evidence), Align::right},
                          {"verdict"}},
              .notes = {adjustment_note(evidence, rows) + "; the verdict goes by it",
                        fmt::format("intervals are of each row alone: one holds 0 where that row's own p is above {:g}",
                                    rounded(1 - evidence.options.confidence))}};
  for (const auto& row : rows) {
    sheet.rows.push_back({row.a, row.b, row.scope, std::to_string(row.tasks), points(row.difference),
                          interval_word(row.interval), row.test, p_word(row.p), adjusted_word(row), verdict_word(row)});
  }
  return sheet;
}

Sheet data_pairs(const Evidence& evidence) { return data_of_pairs(evidence.once(make_pairs)); }

nlohmann::ordered_json p_range_json(const Range& range) {
  return {{"low", p_json(range.low)}, {"high", p_json(range.high)}};
}

nlohmann::ordered_json pair_json(const PairRow& row) {
  nlohmann::ordered_json json{{"a", row.a},
                              {"b", row.b},
                              {"scope", row.scope},
                              {"family", row.family},
                              {"contrast", row.contrast},
                              {"tasks", row.tasks},
                              {"outstanding", row.outstanding},
                              {"difference", number_json(row.difference)},
                              {"interval", interval_json(row.interval)},
                              {"test", row.test},
                              {"p", p_json(row.p)},
                              {"p_holm", p_json(row.p_holm)},
                              {"verdict", text_json(row.verdict)}};
  if (row.p_bh) json["p_bh"] = p_json(row.p_bh);
  if (row.p_bounds) {
    json["p_bounds"] = p_range_json(*row.p_bounds);
    json["p_holm_bounds"] = p_range_json(*row.p_holm_bounds);
    json["subset"] = text_json(row.subset);
  }
  return json;
}

nlohmann::ordered_json json_pairs(const Evidence& evidence) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& row : evidence.once(make_pairs)) rows.push_back(pair_json(row));
  return rows;
}

std::string why_no_pairs(const Evidence& evidence) { return evidence.from_counts() ? kNoCountPairs : kNoPairs; }

}  // namespace

std::vector<PairRow> make_pairs(const Evidence& evidence) {
  return evidence.from_counts() ? make_count_pairs(evidence) : Pairs(evidence).make();
}

Table pairs_table() {
  return {.name = "pairs",
          .display = display_pairs,
          .data = data_pairs,
          .why_empty = why_no_pairs,
          .from = From::both,
          .in_document = InDocument::leading,
          .json = json_pairs};
}

}  // namespace nkigrid::aggregate
