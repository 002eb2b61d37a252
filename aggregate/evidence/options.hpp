#pragma once

#include <optional>
#include <string>

#include "aggregate/evidence/rule.hpp"
#include "aggregate/statistics/paired.hpp"

namespace nkigrid::aggregate {

/// How p values are adjusted for their number; verdicts go by it.
enum class Adjust { holm, bh };

/// Scopes that pairs are tested in beside those of the contrasts.
enum class ScopesBy { contrast, level, category };

/// How rates get their intervals: by the rule of docs/decisions/intervals.md, or all alike.
enum class RateIntervals { by_rule, clopper_pearson };

/// What is asked of the tables.
struct TableOptions {
  Rule rule = Rule::paper;
  std::optional<std::string> subset;
  bool partial = false;  ///< with episodes outstanding: rates over tasks with any scored one, of those scored
  double confidence = 0.95;
  Adjust adjust = Adjust::holm;
  ScopesBy by = ScopesBy::contrast;
  RateIntervals intervals = RateIntervals::by_rule;
  PValue test = PValue::mid;  ///< of paired comparisons and interactions
  std::string against;        ///< the value that ablations are held against where it was run; empty: the first listed
  std::optional<std::string> relative_to;  ///< the cell that costs are relative to; default: the first
};

}  // namespace nkigrid::aggregate
