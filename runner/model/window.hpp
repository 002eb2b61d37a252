#pragma once

#include <cstdint>
#include <mutex>
#include <stop_token>

#include "runner/model/hand_over.hpp"

namespace nkigrid::model {

/// How many requests a process keeps in flight at one endpoint: as many as come, until the endpoint says that they are
/// too many (429, 503, 529). Then half of those in flight, and one more for each round of replies: additive increase,
/// multiplicative decrease, by which any number of processes share an endpoint without a word between them. Never more
/// than the grid allows all processes together: what has a place waits for no long queue of permits, so that half of
/// the places is half of what is in flight.
/// @threads any number of lanes
class Window {
 public:
  /// @param most places at all; 0: no limit
  explicit Window(std::uint32_t most = 0) : most_(most) {}

  /// A place in it. `round` tells requests that were sent before a decrease from those after.
  struct Place {
    bool given = false;
    std::uint64_t round = 0;
  };
  /// Waits for a place, first come first served; none was given when `stop` fired.
  Place enter(const std::stop_token& stop);

  /// How many the endpoint takes as far as is known; 0: no fewer than the grid allows.
  std::uint32_t limit() const;

  enum class Heard { reply, too_many, nothing };
  /// Gives the place back. @returns the limit to which an endpoint's complaint brought it; 0: none did. Complaints
  /// about requests that were sent before the last decrease are one complaint.
  std::uint32_t leave(const Place& place, Heard heard);

 private:
  bool has_room() const noexcept;
  void admit();

  std::uint32_t most_;
  mutable std::mutex mutex_;
  HandOver line_;
  double limit_ = 0;  ///< 0: none
  std::uint32_t in_flight_ = 0;
  std::uint64_t round_ = 0;
};

}  // namespace nkigrid::model
