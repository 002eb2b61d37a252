#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "runner/device/backend.hpp"
#include "runner/proc/fork_server.hpp"

namespace nkigrid::device {

/// From a child that was killed, or closed its socket, to the news of how it ended. A server that says nothing for so
/// long is stopped or stuck, whoever did that to it: what it was asked is no kernel's fault, and it is replaced.
inline constexpr Seconds kReapTime{15};
/// How long a child that closed its answer has to go by itself.
inline constexpr Seconds kEndGrace{1};

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
  /// Ends a server that gives no answers, unless it has been replaced already. @param pid its, when the job was started
  void give_up(pid_t pid);

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
