#pragma once

#include <cstdint>
#include <functional>

#include "aggregate/evidence/evidence.hpp"

namespace nkigrid::aggregate {

/// A scored episode that the tables show.
struct CountedEpisode {
  std::size_t row = 0;        ///< index into Evidence::scores
  std::uint32_t stratum = 0;  ///< index into Evidence::levels
  std::size_t place = 0;      ///< index into Plan::episodes and TurnFacts::trails
  const jobs::PlannedEpisode& planned;
  const log::End& end;
};

/// Calls visit for each of them, in the order of the plan. @pre evidence of a run
void visit_counted(const Evidence& evidence, const std::function<void(const CountedEpisode&)>& visit);

}  // namespace nkigrid::aggregate
