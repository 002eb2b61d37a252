#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "jobs/base/clock.hpp"

namespace nkigrid {

/// Says every few seconds what this process is at and for how long, while it lives: reading a large log takes minutes,
/// and silence looks like a hang. Nothing is said of what ends before the first of them.
///
/// The words are said on a thread of its own: not for a process that forks meanwhile.
class Heartbeat {
 public:
  using Say = std::function<void(const std::string&)>;

  /// @param doing e.g. "reading the log of 12 files (1.2 GB)"; "": nobody listens
  explicit Heartbeat(std::string doing, Seconds every = Seconds(5), Say say = {});
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  void run(const std::string& doing, Seconds every, const Say& say);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace nkigrid
