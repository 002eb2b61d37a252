#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregate/tables/words.hpp"

namespace nkigrid::aggregate {

/// A paired comparison a - b over the tasks that both have: of two cells, or of two methods.
struct PairRow {
  std::string a, b, contrast, scope, family;
  std::uint32_t tasks = 0;
  std::uint64_t outstanding = 0;
  std::optional<double> difference;  ///< none with episodes outstanding, unless partial
  std::optional<Interval> interval;
  std::string test;  ///< mcnemar-mid-p or sign-flip-mid-p (exact: mcnemar-exact, sign-flip); checkpoint-t between
                     ///< methods; mcnemar-bounds from counts
  std::optional<double> p, p_holm;
  std::string verdict;      ///< a-better, b-better, not-separated; empty without a p; from counts: see count_pairs.hpp
  std::string subset = {};  ///< from counts: the subset of both cells
  std::optional<Range> p_bounds = {};       ///< from counts: the least and the largest p over all pairings
  std::optional<Range> p_holm_bounds = {};  ///< of Holm's p over the table: of all the least, and of all the largest
  std::optional<double> p_bh = {};          ///< with the adjustment bh only; the verdict goes by it then
};

/// What a paired test over tasks is called. @param one_replicate every task was run once in both
const char* test_name(bool one_replicate, PValue kind);

/// Every field, for programs.
Sheet data_of_pairs(const std::vector<PairRow>& rows);

/// How an adjusted p, and what it comes to, read.
std::string adjusted_word(const PairRow& row);
std::string verdict_word(const PairRow& row);

/// Whose p values are adjusted together.
std::string adjustment_note(const Evidence& evidence, const std::vector<PairRow>& rows);

}  // namespace nkigrid::aggregate
