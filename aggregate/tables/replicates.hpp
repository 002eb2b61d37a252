#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregate/evidence/evidence.hpp"
#include "aggregate/statistics/variance.hpp"

namespace nkigrid::aggregate {

/// What replicates of a cell tell.
struct ReplicateRow {
  std::string cell;
  std::uint32_t replicates = 0;  ///< most, over its tasks
  std::optional<Range> run_to_run;
  std::optional<VarianceSplit> variance;
  std::vector<PassAt>
      pass_at;  ///< k = 1, 2, 3, 5, 10, ... and K itself; empty with episodes outstanding, unless partial
};

/// In the order of the cells. @pre evidence of a run
std::vector<ReplicateRow> make_replicates(const Evidence& evidence);

}  // namespace nkigrid::aggregate
