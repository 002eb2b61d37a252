#pragma once

#include <cstdint>

#include "jobs/grid/grid.hpp"

/// How many elements of a run work at once, over all of its arrays and submissions (docs/decisions/concurrency.md).
namespace nkigrid::jobs {

/// What earlier submissions of a run still have in the queue.
struct LivingElements {
  std::uint32_t working = 0;  ///< that may work at once, by their arrays' throttles; 0: no living element
  std::uint32_t at_once = 0;  ///< that they were submitted with (Pace::at_once); 0: unknown, or not all the same
};

struct Pace {
  std::uint32_t throttle = 0;  ///< over all arrays of this submission; 0: none
  std::uint32_t at_once =
      1;  ///< elements of the run that may work at once: each has its part of the endpoints' concurrency
  bool after_living = false;  ///< start when what lives has ended: it has all there is
  bool operator==(const Pace&) const = default;
};

/// The pace of `elements` that are submitted beside what lives: never more at once than `slurm.throttle`, nor than
/// every limited endpoint has requests for.
Pace pace_of(const Grid& grid, std::uint32_t elements, const LivingElements& living = {});

}  // namespace nkigrid::jobs
