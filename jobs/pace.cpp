#include "jobs/pace.hpp"

#include <algorithm>

#include "jobs/endpoints.hpp"

namespace nkigrid::jobs {

Pace pace_of(const Grid& grid, std::uint32_t elements, const LivingElements& living) {
  const bool shares_endpoints = most_elements_at_once(grid) > 0;
  Pace pace{.throttle = throttle_within_limits(grid, elements, grid.slurm.throttle)};
  // Where nothing is shared, room that few elements leave is others' to use; where parts are given out, a few get
  // larger ones.
  if (pace.throttle == 0)
    pace.at_once = elements;
  else
    pace.at_once = shares_endpoints ? std::min(elements, pace.throttle) : pace.throttle;
  const bool bounded = shares_endpoints || grid.slurm.throttle > 0;
  if (!bounded || living.working == 0) return pace;

  const auto room = living.at_once > living.working ? living.at_once - living.working : 0;
  if (room == 0) {
    pace.after_living = true;
    return pace;
  }
  if (elements > room) pace.throttle = room;
  pace.at_once = living.at_once;
  return pace;
}

}  // namespace nkigrid::jobs
