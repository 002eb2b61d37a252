#pragma once

#include <optional>
#include <vector>

#include "aggregate/evidence/options.hpp"
#include "aggregate/statistics/adjustment.hpp"

namespace nkigrid::aggregate {

/// What a separated row is called, by the sign of its difference.
struct VerdictWords {
  const char *positive = "a-better", *negative = "b-better";
};

/// Rows that a family counts: those with a p, and those that will have one when their episodes are in, so that the
/// others look no better before. A row without a test (two methods of one checkpoint each) never has a p and does not
/// count.
template <class Row>
bool is_in_family(const Row& row) noexcept {
  return row.p || (row.outstanding > 0 && !row.test.empty());
}

/// Fills p_holm, p_bh (when asked for) and the verdict of every row of one family that has a p.
template <class Row>
void adjust_rows(const std::vector<Row*>& rows, const TableOptions& options, const VerdictWords& words = {}) {
  std::vector<double> p;
  std::size_t family = 0;
  for (const auto* row : rows) {
    if (row->p) p.push_back(*row->p);
    family += is_in_family(*row);
  }
  const auto by_holm = holm(p, family), by_bh = benjamini_hochberg(p, family);
  std::size_t next = 0;
  for (auto* row : rows) {
    if (!row->p) continue;
    row->p_holm = by_holm[next];
    if (options.adjust == Adjust::bh) row->p_bh = by_bh[next];
    ++next;
    const bool separated = row->p_bh.value_or(*row->p_holm) <= 1 - options.confidence;
    row->verdict = !separated ? "not-separated" : *row->difference > 0 ? words.positive : words.negative;
  }
}

/// The same where all rows are one family.
template <class Row>
void adjust_family(std::vector<Row>& rows, const TableOptions& options, const VerdictWords& words = {}) {
  std::vector<Row*> all;
  for (auto& row : rows) all.push_back(&row);
  adjust_rows(all, options, words);
}

}  // namespace nkigrid::aggregate
