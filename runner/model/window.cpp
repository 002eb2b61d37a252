#include "runner/model/window.hpp"

#include <algorithm>

namespace nkigrid::model {

Window::Place Window::enter(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto has_room = [this] {
    return (most_ == 0 || in_flight_ < most_) && (limit_ == 0 || in_flight_ < static_cast<std::uint32_t>(limit_));
  };
  if (!freed_.wait(lock, stop, has_room)) return {};
  ++in_flight_;
  return {true, round_};
}

std::uint32_t Window::leave(const Place& place, Heard heard) {
  std::unique_lock lock(mutex_);
  std::uint32_t lowered = 0;
  if (heard == Heard::too_many && place.round == round_) {
    limit_ = std::max(1.0, in_flight_ / 2.0);
    ++round_;
    lowered = static_cast<std::uint32_t>(limit_);
  } else if (heard == Heard::reply && limit_ > 0) {
    limit_ += 1 / limit_;
  }
  --in_flight_;
  const bool one_more = heard == Heard::reply && limit_ > 0;  // that the reply may have added
  lock.unlock();
  // As many lanes as there are places, and not while they could not go on: of a thousand that wait the others sleep on.
  freed_.notify_one();
  if (one_more) freed_.notify_one();
  return lowered;
}

}  // namespace nkigrid::model
