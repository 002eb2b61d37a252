#pragma once

#include <cstdint>
#include <vector>

#include "runner/nkisim/estimate/cost.hpp"

namespace nkigrid::nkisim {

struct TimelineEvent {
  double begin_us = 0, end_us = 0;
  std::uint32_t line = 0;
  Instr instr = Instr::load;
  Lane lane = Lane::dma;
};

/// A program played on the lanes of a NeuronCore: what may overlap does.
struct Timeline {
  std::vector<TimelineEvent> events;  ///< in the program's order
  double us = 0;                      ///< until the last event's end
  bool whole = true;                  ///< false: ended at the limit of events
};

/// Plays a program trip by trip, with the costs that estimate_us() adds up. An operation waits for its lane, for the
/// operations that write what it reads, and for those that still use memory that it writes; each run of an alloc gets
/// memory of its own as far as SBUF and PSUM hold several. A later operation may go before an earlier one that waits.
/// @param most_events a loop may make billions
/// @source docs/decisions/estimate.md
Timeline timeline_of(const Program& program, std::size_t most_events);

}  // namespace nkigrid::nkisim
