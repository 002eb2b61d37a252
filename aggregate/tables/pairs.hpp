#pragma once

#include <vector>

#include "aggregate/tables/pair_row.hpp"

namespace nkigrid::aggregate {

/// Of a run the family of comparisons that the grid's contrasts ask for: for each contrast and scope every two cells
/// that agree in all factors which the contrast leaves alone, paired on the tasks that both have, then every
/// cell that is kept apart (`cell@run`) against the plain one; p values adjusted over these rows, the family
/// "contrasts". Scopes that TableOptions::by adds are a family of their own, "by-level" or "by-category". Cells of
/// different runs meet in no other row. Scopes in which two cells share no task give no row.
/// Of counts: count_pairs.hpp.
std::vector<PairRow> make_pairs(const Evidence& evidence);

/// Why there is none, of a run.
inline constexpr const char* kNoPairs =
    "no two cells match a contrast; run a second model or mode, or list `contrasts:` in the grid";

}  // namespace nkigrid::aggregate
