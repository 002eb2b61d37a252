#pragma once

#include <string>

#include "jobs/base/clock.hpp"
#include "runner/log/records.hpp"
#include "runner/messages.hpp"
#include "runner/stop.hpp"

namespace nkigrid::runner {

/// Sees every record of one attempt on its way to the journal: what it spent, and how long turns and the final check
/// took.
class Tally {
 public:
  /// @param done what is known of the attempt at its end is put here @param turns are told how long each took; all
  /// outlive this
  Tally(Done& done, TurnClock& turns, const Clock& clock, const std::string& cell)
      : done_(done), turns_(turns), clock_(clock), cell_(cell), last_(clock.monotonic()) {}

  /// What the endpoint cost of the turn in hand: an outage that is over says nothing of the next turn.
  void waited(Seconds time) { last_ += time; }

  void see(const log::Record& record);

 private:
  Done& done_;
  TurnClock& turns_;
  const Clock& clock_;
  const std::string& cell_;
  Seconds last_;  ///< of the begin, or of the last turn; later by what was waited for an endpoint that failed
};

}  // namespace nkigrid::runner
