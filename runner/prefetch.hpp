#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "jobs/base/clock.hpp"
#include "runner/messages.hpp"

namespace nkigrid::runner {

/// How many episodes a rank asks for ahead of need: as many as its lanes ended lately, so that a request's round trip
/// does not leave them idle. With episodes of minutes that is none, and none may be: an episode that waits on a rank
/// cannot go to another one that is idle.
class PrefetchWindow {
 public:
  /// Takes note of episodes that ended.
  void ended(std::uint32_t episodes, Seconds now) noexcept {
    if (now - since_ > kWindow) {
      last_ = now - since_ > 2 * kWindow ? 0 : count_;
      count_ = 0;
      since_ = now;
    }
    count_ += episodes;
  }
  /// Twice what ended in the last window, which is what a round trip may use up with room to grow; nothing where not
  /// even every lane ended one.
  std::uint32_t ahead(std::uint32_t lanes, Seconds now) noexcept {
    ended(0, now);
    const auto lately = std::max(last_, count_);
    return lately > lanes ? std::min(kMost, 2 * lately) : 0;
  }

 private:
  static constexpr Seconds kWindow{0.01};  ///< a few polls
  static constexpr std::uint32_t kMost = 4096;
  Seconds since_{0};
  std::uint32_t count_ = 0, last_ = 0;
};

/// What a rank asks rank 0 for, and when: only if it has more room than rank 0 can know of.
class WorkRequests {
 public:
  void ended(std::uint32_t episodes, Seconds now) noexcept { window_.ended(episodes, now); }
  void received(std::size_t episodes) noexcept { received_ += episodes; }

  /// @param idle lanes without work; `queued` episodes wait on the rank for a lane
  std::optional<Want> ask(std::uint32_t lanes, std::uint32_t idle, std::uint32_t queued, const std::string& node,
                          Seconds now) {
    const auto most = window_.ahead(lanes, now);
    const auto ahead = most > queued ? most - queued : 0;
    const auto since = received_ - received_then_;
    const bool lanes_idle = idle + since > idle_then_ && idle > 0;
    const bool window_open = ahead > most / 2 && ahead + since > ahead_then_;
    if (!lanes_idle && !window_open) return std::nullopt;
    idle_then_ = idle;
    ahead_then_ = ahead;
    received_then_ = received_;
    return Want{idle, ahead, received_, node};
  }

 private:
  PrefetchWindow window_;
  std::uint64_t received_ = 0, received_then_ = 0;
  std::uint64_t idle_then_ = 0, ahead_then_ = 0;
};

}  // namespace nkigrid::runner
