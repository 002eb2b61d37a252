#pragma once

#include <vector>

#include "aggregate/tables/pair_row.hpp"

namespace nkigrid::aggregate {

/// Every method against the first one listed, mode and prompt equal; p values adjusted over those of these rows that
/// have a test: not one checkpoint against one. @pre evidence of a run
std::vector<PairRow> make_method_pairs(const Evidence& evidence);

}  // namespace nkigrid::aggregate
