#pragma once

#include <algorithm>

#include "jobs/base/clock.hpp"

namespace nkigrid::runner {

/// How long a rank that found nothing to do sleeps before it looks at MPI again: 0.1 ms after something moved, doubling
/// to 5 ms, so that a busy rank answers at once and an idle one costs next to nothing.
class PollBackoff {
 public:
  void moved() noexcept { next_ = kLeast; }
  Seconds next() noexcept {
    const auto pause = next_;
    next_ = std::min(2 * next_, kMost);
    return pause;
  }

 private:
  static constexpr Seconds kLeast{0.0001}, kMost{0.005};
  Seconds next_ = kLeast;
};

}  // namespace nkigrid::runner
