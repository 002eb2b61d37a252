#pragma once

#include <optional>
#include <vector>

#include "aggregate/paired.hpp"
#include "aggregate/tables.hpp"

namespace nkigrid::aggregate {

/// What a separated row is called, by the sign of its difference.
struct VerdictWords {
  const char *positive = "a-better", *negative = "b-better";
};

/// Fills p_holm, p_bh (when asked for) and the verdict of every row that has a p. Rows without one are still
/// outstanding and count in the family, so that they do not make the others look better.
template <class Row>
void adjust_family(std::vector<Row>& rows, const TableOptions& options, const VerdictWords& words = {}) {
  std::vector<double> p;
  for (const auto& row : rows) {
    if (row.p) p.push_back(*row.p);
  }
  const auto by_holm = holm(p, rows.size()), by_bh = benjamini_hochberg(p, rows.size());
  std::size_t next = 0;
  for (auto& row : rows) {
    if (!row.p) continue;
    row.p_holm = by_holm[next];
    if (options.adjust == Adjust::bh) row.p_bh = by_bh[next];
    ++next;
    const bool separated = row.p_bh.value_or(*row.p_holm) <= 1 - options.level;
    row.verdict = !separated ? "not-separated" : *row.difference > 0 ? words.positive : words.negative;
  }
}

}  // namespace nkigrid::aggregate
