#pragma once

#include <vector>

#include "aggregate/tables/tables.hpp"

namespace nkigrid::aggregate {

/// Models that name one `method` are its checkpoints: one row a method, mode and prompt, over the tasks that
/// all its checkpoints have. Empty when no model names a method.
std::vector<MethodRow> make_methods(const jobs::Run& run, const std::vector<CellScores>& scores,
                                    const TableOptions& options);

/// Every method against the first one listed, mode and prompt equal; p values adjusted over those of these rows that
/// have a test: not one checkpoint against one. A
/// model without a method is a method of one checkpoint under its own name.
std::vector<PairRow> make_method_pairs(const jobs::Run& run, const std::vector<CellScores>& scores,
                                       const TableOptions& options);

}  // namespace nkigrid::aggregate
