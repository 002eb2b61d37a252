#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aggregate/evidence/evidence.hpp"
#include "aggregate/statistics/intervals.hpp"

namespace nkigrid::aggregate {

/// A number that a text prints, held against the counts of two cells of one subset.
struct ClaimRow {
  std::string where, kind, a, b, scope, subset, printed;
  double value = 0;                       ///< as a fraction
  std::optional<Interval> interval = {};  ///< of the value: newcombe, or mover-r for relative and share
  bool fits = true;                       ///< the printed number is the value at the printed precision
  bool elsewhere = false;                 ///< the claim names another subset: does it carry over?
  const PrintedCell *cell_a = nullptr, *cell_b = nullptr;
};

struct CheckedClaims {
  std::vector<ClaimRow> rows;
  std::vector<std::string> warnings;  ///< of numbers that do not fit, and of claims that no cells say anything about
};

/// A claim is looked at on every subset that has both cells: one that names its subset is held to it, the others say
/// whether it carries over. @pre evidence of counts
CheckedClaims check_claims(const Evidence& evidence);

}  // namespace nkigrid::aggregate
