#pragma once

#include <chrono>
#include <mutex>

namespace nkigrid {

using Seconds = std::chrono::duration<double>;

/// Time, passed in from main so that tests need no sleeps.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Unix time [s]; for what a reader sees.
  virtual double unix_seconds() const = 0;
  /// Monotonic time; for durations and deadlines.
  virtual Seconds monotonic() const = 0;
};

class SystemClock final : public Clock {
 public:
  double unix_seconds() const override;
  Seconds monotonic() const override;
};

/// A clock that moves only when told to. @threads safe.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(double unix_start = 1'750'000'000.0) : unix_start_(unix_start) {}
  double unix_seconds() const override;
  Seconds monotonic() const override;
  void advance(Seconds by);

 private:
  mutable std::mutex mutex_;
  double unix_start_;
  Seconds elapsed_{0};
};

}  // namespace nkigrid
