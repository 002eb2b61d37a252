#include "aggregate/tables/method_pairs.hpp"

#include <algorithm>

#include "aggregate/statistics/drawn.hpp"
#include "aggregate/tables/family.hpp"
#include "aggregate/tables/methods.hpp"
#include "aggregate/tables/table.hpp"

namespace nkigrid::aggregate {
namespace {

PairRow compare_methods(const Method& a, const Method& b, const TableOptions& options) {
  auto cells = a.cells;
  cells.insert(cells.end(), b.cells.begin(), b.cells.end());
  const auto shared = share_tasks(cells);
  PairRow row{.a = a.name,
              .b = b.name,
              .contrast = a.context,
              .scope = "all",
              .family = "methods",
              .tasks = shared.tasks,
              .outstanding = shared.outstanding,
              .test = "checkpoint-t"};
  if (a.cells.size() < 2 && b.cells.size() < 2) row.test.clear();  // nothing tells how checkpoints scatter
  if (!is_ready(shared, options.partial)) return row;
  const std::span all(shared.counts);
  const auto result = checkpoint_difference(checkpoint_scores(all.first(a.cells.size())),
                                            checkpoint_scores(all.subspan(a.cells.size())), strata_of(shared.counts[0]),
                                            options.confidence);
  row.difference = result.difference;
  row.interval = result.interval;
  row.p = result.p;
  return row;
}

Sheet display_method_pairs(const Evidence& evidence) {
  const auto& rows = evidence.once(make_method_pairs);
  Sheet sheet{
      .caption = caption_of(evidence, "differences of methods a - b in points, for other checkpoints and tasks"),
      .columns = {{"a"},
                  {"b"},
                  {"others"},
                  {"tasks", Align::right},
                  {"a - b", Align::right},
                  {"interval"},
                  {"p", Align::right},
                  {adjusted_head(evidence), Align::right},
                  {"verdict"}},
      .notes = {adjustment_note(evidence, rows),
                "no interval: one checkpoint on both sides, which says nothing about another one"}};
  for (const auto& row : rows) {
    sheet.rows.push_back({row.a, row.b, row.contrast, std::to_string(row.tasks), points(row.difference),
                          interval_word(row.interval), p_word(row.p), adjusted_word(row), verdict_word(row)});
  }
  return sheet;
}

Sheet data_method_pairs(const Evidence& evidence) { return data_of_pairs(evidence.once(make_method_pairs)); }

std::string why_no_method_pairs(const Evidence& evidence) {
  return evidence.once(make_methods).empty()
             ? kNoMethods
             : "there is one method in each mode and prompt; run another model there, or give it another `method`";
}

}  // namespace

std::vector<PairRow> make_method_pairs(const Evidence& evidence) {
  const auto methods = methods_of(evidence);
  std::vector<PairRow> rows;
  for (const auto& a : methods) {
    const auto b =
        std::find_if(methods.begin(), methods.end(), [&](const auto& other) { return other.context == a.context; });
    if (b->name != a.name) rows.push_back(compare_methods(a, *b, evidence.options));
  }
  std::erase_if(rows, [](const auto& row) { return row.tasks == 0; });
  adjust_family(rows, evidence.options);
  return rows;
}

Table method_pairs_table() {
  return {.name = "method-pairs",
          .display = display_method_pairs,
          .data = data_method_pairs,
          .why_empty = why_no_method_pairs};
}

}  // namespace nkigrid::aggregate
