#pragma once

#include <vector>

#include "aggregate/tables.hpp"

namespace nkigrid::aggregate {

/// The family of comparisons that the grid's contrasts ask for: for each contrast and scope every two cells
/// that agree in all factors which the contrast leaves alone, paired on the tasks that both have; Holm's
/// adjustment over all rows. Scopes in which two cells share no task give no row.
std::vector<PairRow> make_pairs(const jobs::Run& run, const std::vector<CellScores>& scores,
                                const TableOptions& options);

}  // namespace nkigrid::aggregate
