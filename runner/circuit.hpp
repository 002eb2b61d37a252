#pragma once

#include <optional>

#include "jobs/base/clock.hpp"

namespace nkigrid::runner {

/// What the requests of this process say of one model's endpoint: it works, or it fails all it is asked since some
/// time. Open (away for kOpenAfter) it is probed, a request each kProbeEvery, not hammered. Pure state, no clock, no
/// threads.
class Circuit {
 public:
  static constexpr Seconds kOpenAfter{300}, kProbeEvery{60};

  /// @param status of the HTTP answer to a request; 0: none came
  void heard(int status, Seconds now);

  /// True when a request may be sent now. Where the circuit is open that takes the probe's turn.
  bool may_send(Seconds now);
  /// How long until may_send() may be true again.
  Seconds until_probe(Seconds now) const;

  /// Since when it fails; nothing while it works.
  std::optional<Seconds> failing_since() const noexcept { return failing_since_; }
  bool is_open(Seconds now) const noexcept { return failing_since_ && now - *failing_since_ >= kOpenAfter; }

 private:
  std::optional<Seconds> failing_since_;
  Seconds next_probe_{0};
};

}  // namespace nkigrid::runner
