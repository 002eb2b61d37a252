#pragma once

#include <vector>

#include "aggregate/tables/pair_row.hpp"

/// `pairs` from printed counts, where which tasks passed is unknown.
namespace nkigrid::aggregate {

/// The cells of one subset that differ in one of model and mode, against the first listed value, then the claims'
/// cells; each two cells once a scope. Without tasks to pair, a test becomes its bounds over all pairings that the
/// counts allow (exact McNemar), Holm's p has bounds too, and by these goes the verdict: always-significant,
/// never-significant or depends-on-pairing. Families: "contrasts", and "by-level" for levels that no claim names.
/// @pre evidence of counts
std::vector<PairRow> make_count_pairs(const Evidence& evidence);

Sheet display_count_pairs(const Evidence& evidence, const std::vector<PairRow>& rows);

/// Why there is none; ablations have none then either.
inline constexpr const char* kNoCountPairs =
    "no two cells of one subset share a model or a mode; add `model`, `mode` and `subset` to cells of the counts file";

}  // namespace nkigrid::aggregate
