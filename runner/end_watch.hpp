#pragma once

#include <optional>
#include <vector>

#include "jobs/base/clock.hpp"
#include "jobs/grid/grid.hpp"
#include "jobs/scheduler.hpp"
#include "runner/stop.hpp"

namespace nkigrid::runner {

/// Rank 0's eye on the end of the allocation, which an administrator may move: asks once a minute, and once more
/// shortly before each of the two stages that the end as known would bring (the first cell whose turns do not fit, the
/// last call).
class EndWatch {
 public:
  /// @param ends_at as first known, Unix time [s]; none: no limit, nothing is asked
  EndWatch(jobs::EndQuestion question, std::optional<double> ends_at, const Clock& clock);

  /// @returns the new end [Unix s] when it has moved
  std::optional<double> look(const TurnClock& turns, const std::vector<jobs::CellSpec>& cells);

 private:
  bool is_due(Seconds left, Seconds longest_turn);

  jobs::EndQuestion question_;
  std::optional<double> end_;
  const Clock& clock_;
  Seconds asked_, looked_;
  int stages_asked_ = 0;  ///< of the end as known
};

}  // namespace nkigrid::runner
