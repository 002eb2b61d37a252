#include "runner/model/window.hpp"

#include <algorithm>

namespace nkigrid::model {

bool Window::has_room() const noexcept {
  return (most_ == 0 || in_flight_ < most_) && (limit_ == 0 || in_flight_ < static_cast<std::uint32_t>(limit_));
}

/// As many of those that wait as there are places. Each goes in here and now, so that nobody comes before it.
void Window::admit() {
  while (has_room() && line_.pass()) ++in_flight_;
}

Window::Place Window::enter(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (has_room())
    ++in_flight_;
  else if (!line_.wait(lock, stop))
    return {};
  return {true, round_};
}

std::uint32_t Window::limit() const {
  const std::lock_guard lock(mutex_);
  const auto limit = static_cast<std::uint32_t>(limit_);
  return most_ > 0 && limit >= most_ ? 0 : limit;
}

std::uint32_t Window::leave(const Place& place, Heard heard) {
  const std::lock_guard lock(mutex_);
  std::uint32_t lowered = 0;
  if (heard == Heard::too_many && place.round == round_) {
    limit_ = std::max(1.0, in_flight_ / 2.0);
    ++round_;
    lowered = static_cast<std::uint32_t>(limit_);
  } else if (heard == Heard::reply && limit_ > 0) {
    limit_ += 1 / limit_;
  }
  --in_flight_;
  admit();
  return lowered;
}

}  // namespace nkigrid::model
