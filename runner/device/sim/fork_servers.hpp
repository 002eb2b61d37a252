#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "runner/device/backend.hpp"
#include "runner/proc/fork_server.hpp"

namespace nkigrid::device {

inline constexpr double kReapSeconds = 30;  ///< from a child that closed its socket to the news of how it ended

/// One fork server that is started again when it dies: it holds nothing, so nothing is lost with it but the jobs it
/// had.
class KeptServer {
 public:
  explicit KeptServer(proc::ForkServer::Spec spec)
      : spec_(spec), server_(std::make_unique<proc::ForkServer>(std::move(spec))) {}

  /// @throws DeviceLost when it died too often. @threads safe
  proc::Job start();
  /// @throws Error{external} with its words when it does not get ready
  void wait_ready();
  pid_t pid();

 private:
  proc::ForkServer::Spec spec_;
  std::mutex mutex_;
  std::unique_ptr<proc::ForkServer> server_;
  int restarts_ = 0;
};

/// The two servers that fork children for hostile work. @threads jobs may be started from any thread
class ForkServers final : public BackendServers {
 public:
  /// @throws Error{config} when this machine has no sandbox of the level that `check` asks for
  ForkServers(const DevicePaths& paths, const jobs::CheckSpec& check, std::uint32_t lanes);

  KeptServer& tracer() noexcept { return tracer_; }
  KeptServer& run() noexcept { return run_; }
  /// Waits until both have started. @throws Error{external} naming the one that did not, with its words
  void wait_ready();

 private:
  KeptServer tracer_, run_;
  std::once_flag ready_;
};

}  // namespace nkigrid::device
