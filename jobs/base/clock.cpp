#include "jobs/base/clock.hpp"

namespace nkigrid {

double SystemClock::unix_seconds() const {
  return Seconds(std::chrono::system_clock::now().time_since_epoch()).count();
}
Seconds SystemClock::monotonic() const { return std::chrono::steady_clock::now().time_since_epoch(); }

double ManualClock::unix_seconds() const {
  std::lock_guard lock(mutex_);
  return unix_start_ + elapsed_.count();
}
Seconds ManualClock::monotonic() const {
  std::lock_guard lock(mutex_);
  return elapsed_;
}
void ManualClock::advance(Seconds by) {
  std::lock_guard lock(mutex_);
  elapsed_ += by;
}

}  // namespace nkigrid
