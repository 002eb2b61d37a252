#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregate/evidence/evidence.hpp"
#include "aggregate/statistics/intervals.hpp"

namespace nkigrid::aggregate {

/// What a cell spends. Times make it differ from run to run.
struct CostRow {
  std::string cell;
  std::uint64_t scored = 0, passed = 0;
  std::uint64_t tokens_in = 0, tokens_out = 0;
  std::optional<double> usd;  ///< of counted replies; none where nothing has a price
  double llm_s = 0;
  std::uint64_t uncounted_tokens = 0;
  double uncounted_usd = 0;
  std::optional<double> usd_per_pass, tokens_per_pass, tokens_per_s;  ///< output tokens a second of request time
  std::optional<Interval> usd_per_pass_interval, tokens_per_pass_interval;
  std::optional<double> relative;  ///< cost per pass against the chosen cell
  std::string relative_unit = {};  ///< of both costs: "usd", or "tokens" where either has no price
  std::optional<Interval> relative_interval;
};

/// What each cell spends for each pass, with drawn intervals over tasks (ratios have no lattice), and
/// relative to the cell of options.relative_to over the tasks that both have. With episodes outstanding only sums are
/// given, unless partial. At most five tasks with any pass: no interval. Empty where the turns were not read.
std::vector<CostRow> make_costs(const Evidence& evidence);

}  // namespace nkigrid::aggregate
