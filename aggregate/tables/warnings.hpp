#pragma once

#include <string>
#include <vector>

#include "aggregate/tables/tables.hpp"

namespace nkigrid::aggregate {

/// What a reader must know before believing the table; the same text for the same plan and verdicts.
/// Attempts, retries and superseded writers are never a reason to warn, and damage is counted without naming
/// files (the detail is the log's).
std::vector<std::string> table_warnings(const jobs::Run& run, const log::Ledger& ledger,
                                        const std::vector<CellScores>& scores, const TableOptions& options,
                                        std::uint64_t outstanding);

}  // namespace nkigrid::aggregate
