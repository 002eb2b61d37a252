#pragma once

#include <vector>

#include "aggregate/tables/tables.hpp"

namespace nkigrid::aggregate {

/// Two cells that a contrast compares, by their place in a plan.
struct ComparedCells {
  const jobs::Contrast* contrast = nullptr;
  std::uint32_t a = 0, b = 0;
};

/// For each contrast every two cells of one run that match its sides and agree in all factors that it leaves
/// alone.
std::vector<ComparedCells> compared_cells(const jobs::Grid& grid, const std::vector<jobs::CellSpec>& cells);

/// The family of comparisons that the grid's contrasts ask for: for each contrast and scope every two cells
/// that agree in all factors which the contrast leaves alone, paired on the tasks that both have, then every
/// cell that is kept apart (`cell@run`) against the plain one; p values adjusted over these rows, the family
/// "contrasts". Scopes that TableOptions::by adds are a family of their own, "by-level" or "by-category". Cells of
/// different runs meet in no other row. Scopes in which two cells share no task give no row.
std::vector<PairRow> make_pairs(const jobs::Run& run, const std::vector<CellScores>& scores,
                                const TableOptions& options);

/// The tasks that the two cells of each pair do not solve alike, in the order of pairs (each two cells once)
/// and tasks.
std::vector<FlipRow> make_flips(const jobs::Run& run, const std::vector<CellScores>& scores,
                                const std::vector<PairRow>& pairs);

}  // namespace nkigrid::aggregate
