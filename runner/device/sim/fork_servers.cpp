#include "runner/device/sim/fork_servers.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "runner/proc/sandbox.hpp"

namespace nkigrid::device {
namespace {

// Address space of a run child: the engine's own limit on touched memory is 4 GiB; arguments, outputs and libraries
// come on top.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kRunMemoryBytes = 0;  // sanitizers map terabytes
#else
constexpr std::uint64_t kRunMemoryBytes = 16ULL << 30;
#endif
constexpr double kReadySeconds = 60;
constexpr int kMostRestarts = 3;

/// Idle tracer children kept ready: as many as can work at once, and one that is being made. @param lanes 0: not known
/// yet
std::uint32_t pool_size(std::uint32_t lanes) {
  const auto cores = std::max(1U, std::thread::hardware_concurrency());
  return std::clamp((lanes == 0 ? cores : std::min(lanes, cores)) + 1, 2U, 16U);
}

const char* level_word(const jobs::CheckSpec& check) { return check.strict_sandbox ? "strict" : "relaxed"; }

std::vector<std::string> environment() {
  auto variables = proc::numeric_environment();
  // The order of sets must not depend on the process: the same source has the same artifact everywhere.
  for (const char* fixed : {"PYTHONHASHSEED=0", "PYTHONSAFEPATH=1", "LANG=C.UTF-8"}) variables.emplace_back(fixed);
  return variables;
}

proc::ForkServer::Spec tracer_spec(const DevicePaths& paths, const jobs::CheckSpec& check, std::uint32_t lanes) {
  // The kernel's own time is bounded by the parent's deadline; the processor limit is for a child that nobody waits
  // for.
  const auto cpu_seconds = std::to_string(static_cast<std::uint64_t>(std::ceil(check.compile_timeout.count())) + 5);
  return {"tracer server",
          {NKIGRID_PYTHON, "-s", "-B", paths.libexec / "tracer_server.py", paths.nkisim,
           paths.libexec / "libnkigrid_sandbox.so", level_word(check), cpu_seconds},
          environment(),
          pool_size(lanes)};
}

proc::ForkServer::Spec run_spec(const DevicePaths& paths, const jobs::CheckSpec& check) {
  return {"run server",
          {paths.libexec / "nkigrid_run_server", level_word(check), std::to_string(kRunMemoryBytes)},
          environment()};
}

/// Asked before anything starts, so that the answer is one clear error.
const jobs::CheckSpec& sandbox_checked(const jobs::CheckSpec& check) {
  proc::require_sandbox(check.strict_sandbox ? proc::SandboxLevel::strict : proc::SandboxLevel::relaxed);
  return check;
}

}  // namespace

ForkServers::ForkServers(const DevicePaths& paths, const jobs::CheckSpec& check, std::uint32_t lanes)
    : tracer_(tracer_spec(paths, sandbox_checked(check), lanes)), run_(run_spec(paths, check)) {}

void ForkServers::wait_ready() {
  std::call_once(ready_, [this] {
    tracer_.wait_ready();
    run_.wait_ready();
  });
}

void KeptServer::wait_ready() { server_->wait_ready(Seconds(kReadySeconds)); }

pid_t KeptServer::pid() {
  const std::lock_guard lock(mutex_);
  return server_->pid();
}

void KeptServer::give_up(pid_t pid) {
  const std::lock_guard lock(mutex_);
  if (server_->pid() == pid) server_->kill();
}

proc::Job KeptServer::start() {
  const std::lock_guard lock(mutex_);
  for (;;) {
    try {
      return server_->start();
    } catch (const Error& error) {
      if (++restarts_ > kMostRestarts)
        throw DeviceLost(ErrorCode::external, fmt::format("{}; it was started {} times", error.what(), restarts_));
    }
    server_ = std::make_unique<proc::ForkServer>(spec_);
    server_->wait_ready(Seconds(kReadySeconds));
  }
}

}  // namespace nkigrid::device
