#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "jobs/base/clock.hpp"
#include "jobs/grid/grid.hpp"
#include "runner/stop.hpp"

namespace nkigrid::runner {

/// How to ask the batch system when the allocation ends. Neither function blocks; the answer comes when it comes, or
/// never.
struct EndQuestion {
  std::function<void()> ask;
  std::function<std::optional<double>()> answer;  ///< Unix time [s], once an answer
};

/// Rank 0's eye on the end of the allocation, which an administrator may move: asks once a minute, and once more
/// shortly before each of the two stages that the end as known would bring (the first cell whose turns do not fit, the
/// last call).
class EndWatch {
 public:
  /// @param ends_at as first known, Unix time [s]; none: no limit, nothing is asked
  EndWatch(EndQuestion question, std::optional<double> ends_at, const Clock& clock);

  /// @returns the new end [Unix s] when it has moved
  std::optional<double> look(const TurnClock& turns, const std::vector<jobs::CellSpec>& cells);

 private:
  bool is_due(Seconds left, Seconds longest_turn);

  EndQuestion question_;
  std::optional<double> end_;
  const Clock& clock_;
  Seconds asked_, looked_;
  int stages_asked_ = 0;  ///< of the end as known
};

}  // namespace nkigrid::runner
