#pragma once

#include <cstdint>

#include "runner/device/device.hpp"
#include "runner/proc/fork_server.hpp"

namespace nkigrid::device {

/// The two servers that fork children for hostile work. @threads jobs may be started from any thread
class ForkServers {
 public:
  ForkServers(const DevicePaths& paths, const jobs::CheckSpec& check, std::uint32_t lanes);

  proc::Job start_tracer() { return tracer_.start(); }
  proc::Job start_run() { return run_.start(); }
  /// Waits until both have started. @throws Error{external} naming the one that did not, with its words
  void wait_ready();

 private:
  proc::ForkServer tracer_;
  proc::ForkServer run_;
  bool ready_ = false;
};

}  // namespace nkigrid::device
