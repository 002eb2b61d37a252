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
  std::optional<double> between_replicates;  ///< a variance; also where no level has two tasks
  std::optional<VarianceSplit> variance;     ///< none where no level has two tasks, or no task two replicates
  std::vector<PassAt>
      pass_at;  ///< k = 1, 2, 3, 5, 10, ... and K itself; empty with episodes outstanding, unless partial
};

/// In the order of the cells. @pre evidence of a run
std::vector<ReplicateRow> make_replicates(const Evidence& evidence);

}  // namespace nkigrid::aggregate
