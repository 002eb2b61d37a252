#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stop_token>

namespace nkigrid::model {

/// Threads that wait in line and are handed what they wait for, first come first served. Nobody who comes later can
/// take it from one who was woken for it: of conversations that share an endpoint none falls behind, so that they end
/// together, and no thread wakes in vain.
class HandOver {
 public:
  /// Waits at the end of the line. @param lock of the caller's mutex, which all other calls are under as well
  /// @returns false when `stop` fired before something was handed over
  bool wait(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
    Waiter self;
    line_.push_back(&self);
    self.woken.wait(lock, stop, [&] { return self.has; });
    if (!self.has) line_.erase(std::find(line_.begin(), line_.end(), &self));
    return self.has;
  }

  /// Hands one over to whoever waits longest. @returns false when nobody waits
  bool pass() {
    if (line_.empty()) return false;
    auto& first = *line_.front();
    line_.pop_front();
    first.has = true;
    first.woken.notify_one();  // under the lock: once it is free the waiter may be gone
    return true;
  }

  std::size_t size() const noexcept { return line_.size(); }

 private:
  struct Waiter {
    std::condition_variable_any woken;
    bool has = false;
  };
  std::deque<Waiter*> line_;
};

}  // namespace nkigrid::model
