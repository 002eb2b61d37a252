#pragma once

#include <string>
#include <utility>

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
  /// outlive this @param takes_over its first reply is an earlier attempt's, which has paid for it
  Tally(Done& done, TurnClock& turns, const Clock& clock, const std::string& cell, bool takes_over = false)
      : done_(done), turns_(turns), clock_(clock), cell_(cell), takes_over_(takes_over), last_(clock.monotonic()) {}

  /// What the endpoint cost of the turn in hand: an outage that is over says nothing of the next turn.
  void waited(Seconds time) { last_ += time; }

  void see(const log::Record& record);

  struct Cost {
    std::uint64_t tokens = 0;
    double usd = 0;
  };
  /// What replies cost since this was asked last.
  Cost take_cost() { return std::exchange(cost_, {}); }

 private:
  Done& done_;
  Cost cost_;
  TurnClock& turns_;
  const Clock& clock_;
  const std::string& cell_;
  bool takes_over_;  ///< and the reply is still to come
  Seconds last_;     ///< of the begin, or of the last turn; later by what was waited for an endpoint that failed
};

}  // namespace nkigrid::runner
