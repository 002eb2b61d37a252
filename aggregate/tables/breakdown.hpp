#pragma once

#include <vector>

#include "aggregate/tables/tables.hpp"

namespace nkigrid::aggregate {

/// How the counted episodes of each printed cell ended, and in which turn the passes came: in the order of
/// `scores`.
/// @param scores what the table shows; episodes of other tasks are left out
/// @param facts may be null: then first_to_last stays empty
std::vector<Breakdown> make_breakdowns(const jobs::Run& run, const log::Ledger& ledger,
                                       const std::vector<CellScores>& scores, Rule rule, const TurnFacts* facts);

/// The printed cells under the three rules, in the order of `scores`.
std::vector<RuleRow> make_rules(const jobs::Run& run, const log::Ledger& ledger, const std::vector<CellScores>& scores);

}  // namespace nkigrid::aggregate
