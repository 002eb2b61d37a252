#pragma once

#include <string>
#include <vector>

#include "aggregate/tables/cells.hpp"
#include "aggregate/tables/interactions.hpp"
#include "aggregate/tables/pair_row.hpp"
#include "aggregate/tables/table.hpp"

/// Rows whose numbers seem to contradict one another, with the one to go by (docs/decisions/intervals.md, "Where two
/// numbers disagree"). Each sentence begins with the name of the table that holds them.
namespace nkigrid::aggregate {

std::vector<std::string> row_warnings(const Evidence& evidence, RowCheck check);

/// Cells whose interval over tasks is narrower than their run-to-run interval.
std::vector<std::string> warn_of_narrow_intervals(const std::vector<CellRow>& rows);

/// Levels of few tasks, of cells with several. @param is_resampled some row has an interval that resamples within
/// levels
std::vector<std::string> warn_of_small_levels(const std::vector<CellRow>& rows, bool is_resampled);

/// Rows whose interval and p value, both before any adjustment, say different things about 0.
std::vector<std::string> warn_of_tests(const std::vector<PairRow>& rows, double alpha);
std::vector<std::string> warn_of_tests(const std::vector<InteractionRow>& rows, double alpha);

}  // namespace nkigrid::aggregate
