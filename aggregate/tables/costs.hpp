#pragma once

#include <vector>

#include "aggregate/tables/tables.hpp"

namespace nkigrid::aggregate {

/// What each cell spends for each pass, with drawn intervals over tasks (ratios have no lattice), and
/// relative to the baseline cell over the tasks that both have. With episodes outstanding only sums are
/// given, unless partial. At most five tasks with any pass: no interval.
/// @throws Error{usage} when options.baseline is no cell of the table
std::vector<CostRow> make_costs(const jobs::Run& run, const std::vector<CellScores>& scores, const TurnFacts& facts,
                                const TableOptions& options);

}  // namespace nkigrid::aggregate
