#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregate/evidence/evidence.hpp"
#include "aggregate/statistics/intervals.hpp"

namespace nkigrid::aggregate {

/// Does one factor work better together with another? D = (p11 - p10) - (p01 - p00), task by task.
struct InteractionRow {
  std::string first, second;         ///< e.g. "model: base -> sft"
  std::string context;               ///< the third factor's value; the subset, from counts
  std::array<std::string, 4> cells;  ///< p00, p01, p10, p11; the first digit is the first factor's
  std::uint32_t tasks = 0;
  std::uint64_t outstanding = 0;
  std::optional<double> difference;
  std::optional<Interval> interval;
  std::string test = {};  ///< sign-flip; empty from counts
  std::optional<double> p = {}, p_holm = {}, p_bh = {};
  std::string verdict = {};  ///< super-additive, sub-additive, not-separated
};

/// The 2x2 interactions of the grid's `factors`; without any, of every value against the first of its factor,
/// for every two factors. p values are one family of their own. From counts those of models and modes: an interval, and
/// no test.
std::vector<InteractionRow> make_interactions(const Evidence& evidence);

}  // namespace nkigrid::aggregate
