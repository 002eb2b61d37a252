#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "jobs/base/clock.hpp"
#include "jobs/grid/grid.hpp"

/// When to stop, and what may still be begun. docs/decisions/stopping.md
namespace nkigrid::runner {

/// Kept free at the end of an allocation: for sealing, for mpirun to end.
inline constexpr Seconds kReserve{10};
/// Before that, requests in flight get the grace that the model clients give them (20 s), and waits for retries end.
inline constexpr Seconds kLastCall{22};
/// What turns in flight may still take after SIGTERM. Slurm kills after KillWait (30 s by default), a preempted job
/// often sooner, and Open MPI's mpirun, which gets the signal too, kills its ranks after a second or two: what is
/// durable by then stays.
inline constexpr Seconds kTermGrace{8};

/// How far a stop has come; each stage includes the ones before it.
enum class StopStage {
  none,
  closed,     ///< no turn is begun; turns in flight run on
  last_call,  ///< waits end, requests in flight get their grace
  abandon     ///< the process ends now; what is durable stays, the rest is for the next attempt
};

/// From signals and the end of the allocation to a stage. Pure: no clock of its own.
class StopPlan {
 public:
  /// The allocation ends at `end` (monotonic); called again, the end has moved.
  void set_end(Seconds end) { end_ = end; }
  /// A stop signal arrived; the first one counts, and SIGTERM or SIGINT after SIGUSR1.
  void signal(int number, Seconds now);
  StopStage stage(Seconds now) const;

 private:
  std::optional<Seconds> end_;
  std::optional<Seconds> closed_, last_call_, abandon_;
};

/// How long turns take, by cell, and whether another one can end before the allocation does.
/// @threads any
class TurnClock {
 public:
  explicit TurnClock(const jobs::Grid& grid);

  /// @param now, end monotonic
  void set_end(Seconds now, Seconds end);
  void move_end(Seconds end);  ///< an administrator moved it
  void saw_turn(const std::string& cell, Seconds took);
  void saw_final_check(const std::string& cell, Seconds took);  ///< the final check after the last turn

  /// What a turn of `cell` and the final check behind it take at most: 1.5 times the longest of its last 32 turns and
  /// checks, never more than the timeouts allow; before the first one a quarter of the allocation, so that a short
  /// allocation does get work done.
  Seconds bound(const jobs::CellSpec& cell) const;
  bool fits(const jobs::CellSpec& cell, Seconds now) const;  ///< true without a limit

 private:
  struct Recent {
    std::deque<Seconds> turns, final_checks;
  };
  Seconds timeouts(const jobs::CellSpec& cell) const;

  const jobs::Grid& grid_;
  mutable std::mutex mutex_;
  std::map<std::string, Recent> recent_;
  std::optional<Seconds> end_;
  Seconds allowance_{0};
};

}  // namespace nkigrid::runner
