#pragma once

#include <string>
#include <vector>

#include "aggregate/tables/tables.hpp"

namespace nkigrid::aggregate {

/// Rows whose numbers seem to contradict one another, with the one to go by (docs/decisions/intervals.md, "Where two
/// numbers disagree"): cells whose interval over tasks is narrower than their run-to-run interval; pairs and
/// interactions whose interval and p value, both before any adjustment, say different things about 0.
std::vector<RowWarning> row_warnings(const Tables& tables);

/// The warnings of the whole, then those of the rows that these tables show.
std::vector<std::string> warnings_of(const Tables& tables, const std::vector<TableName>& names);

}  // namespace nkigrid::aggregate
