#pragma once

#include <cstdint>
#include <optional>
#include <set>

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

  /// True when a request that found no reply failed for the endpoint's sake: nobody had one for a quarter of its
  /// patience (waits double: the last one may be what is left of it), and it is not that this one alone is answered
  /// with errors.
  /// @param episode tells conversations apart @param patience how long the request was tried
  bool is_away(std::uint32_t episode, Seconds patience, Seconds now);

  /// Since when it fails; nothing while it works.
  std::optional<Seconds> failing_since() const noexcept { return failing_since_; }
  bool is_open(Seconds now) const noexcept { return failing_since_ && now - *failing_since_ >= kOpenAfter; }

 private:
  std::optional<Seconds> failing_since_;
  bool answers_errors_ = false;         ///< it fails with answers of its own, so that one conversation may be the cause
  std::set<std::uint32_t> unanswered_;  ///< episodes that gave up since then
  Seconds next_probe_{0};
};

}  // namespace nkigrid::runner
