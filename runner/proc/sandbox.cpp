#include "runner/proc/sandbox.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <system_error>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"
#include "runner/proc/landlock.hpp"

namespace nkigrid::proc {
namespace {

[[noreturn]] void fail(const char* step) {
  throw Error(ErrorCode::external, fmt::format("sandbox: cannot {}: {}", step, std::generic_category().message(errno)));
}

void limit(int resource, std::uint64_t most, const char* step) {
  const rlimit both{most, most};
  if (::setrlimit(static_cast<__rlimit_resource_t>(resource), &both) != 0) fail(step);
}

void set_limits(const SandboxLimits& limits) {
  if (limits.address_space_bytes > 0) limit(RLIMIT_AS, limits.address_space_bytes, "limit memory");
  if (limits.cpu_seconds > 0) limit(RLIMIT_CPU, limits.cpu_seconds, "limit cpu time");
  limit(RLIMIT_CORE, 0, "forbid core files");
  limit(RLIMIT_FSIZE, 0, "forbid writing files");
  limit(RLIMIT_NOFILE, 64, "limit descriptors");
  limit(RLIMIT_NPROC, 0, "forbid children");  // does not bind for root; the filter does
}

/// Closes every descriptor above 2 but the kept ones.
void close_others(std::span<const int> keep) {
  std::vector<int> kept(keep.begin(), keep.end());
  std::sort(kept.begin(), kept.end());
  unsigned from = 3;
  for (const int fd : kept) {
    if (static_cast<unsigned>(fd) > from) ::close_range(from, static_cast<unsigned>(fd) - 1, 0);
    if (fd >= 3) from = static_cast<unsigned>(fd) + 1;
  }
  ::close_range(from, UINT_MAX, 0);
}

void silence_standard_streams() {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) fail("open /dev/null");
  for (int fd = 0; fd < 3; ++fd) {
    if (::dup2(null, fd) < 0) fail("silence the standard streams");
  }
  if (null > 2) ::close(null);
}

void drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0) fail("drop capabilities");
}

}  // namespace

std::vector<std::string> missing_sandbox_parts() {
  std::vector<std::string> missing;
  if (!has_seccomp()) missing.emplace_back("a system call filter that kills (seccomp, Linux 4.14)");
  if (landlock_version() == 0) missing.emplace_back("file rules (Landlock, Linux 5.13 with lsm=landlock)");
  return missing;
}

void require_sandbox(SandboxLevel level) {
  const auto missing = missing_sandbox_parts();
  if (level == SandboxLevel::relaxed || missing.empty()) return;
  throw Error(
      ErrorCode::config,
      fmt::format("the strict sandbox cannot be had on this machine (it lacks {}); use a kernel that has it, or say "
                  "'sandbox: relaxed' under check to run kernels with what there is",
                  fmt::join(missing, " and ")));
}

Sandbox::Sandbox(SandboxProfile profile, SandboxLevel level, std::span<const std::filesystem::path> readable)
    : level_(level) {
  require_sandbox(level);
  if (has_seccomp()) filter_.emplace(profile);
  if (landlock_version() > 0)
    file_rules_ =
        make_landlock_rules(profile == SandboxProfile::python ? readable : std::span<const std::filesystem::path>{});
}

void Sandbox::leave_namespaces() noexcept {
  constexpr int kWalls = CLONE_NEWNET | CLONE_NEWIPC;
  if (::unshare(kWalls) != 0) static_cast<void>(::unshare(CLONE_NEWUSER | kWalls));
}

void Sandbox::enter(const SandboxLimits& limits, std::span<const int> keep) const {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setsid();
  silence_standard_streams();
  std::vector<int> kept(keep.begin(), keep.end());
  if (file_rules_) kept.push_back(file_rules_.get());
  close_others(kept);
  ::prctl(PR_SET_DUMPABLE, 0);
  set_limits(limits);
  drop_capabilities();
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("give up new privileges");
  const bool strict = level_ == SandboxLevel::strict;
  if (file_rules_ && !apply_landlock(file_rules_.get()) && strict) fail("bind the file rules");
  if (file_rules_) ::close(file_rules_.get());
  if (filter_ && !filter_->install(::getpid()) && strict) fail("install the system call filter");
}

}  // namespace nkigrid::proc
