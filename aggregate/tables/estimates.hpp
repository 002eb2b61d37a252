#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "aggregate/tables/scores.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::aggregate {

/// How fast the kernels of a cell are that are right, by the device's estimate: all of them, or those of one level.
struct EstimateRow {
  std::string cell, scope;                  ///< scope: "all", or a level
  std::uint64_t passed = 0, estimated = 0;  ///< episodes whose final kernel passes; those of them with an estimate
  std::optional<double> median_us;          ///< over the estimated ones; of an even count the mean of the middle two
  std::optional<double>
      median_to_fastest;  ///< the same of each estimate over its task's fastest in these cells; at least 1
};

/// The log holds the estimate of the final kernel alone: under the rule `best` an episode counts when that one passes.
/// @param scores of the cells that the table shows, as collect_scores() gives them
/// @param levels as level_names() gives them. Only levels that a cell has tasks of get a row.
std::vector<EstimateRow> make_estimates(const jobs::Run& run, const log::Ledger& ledger,
                                        std::span<const CellScores> scores, const std::vector<std::string>& levels,
                                        Rule rule);

}  // namespace nkigrid::aggregate
