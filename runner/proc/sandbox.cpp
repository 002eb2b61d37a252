#include "runner/proc/sandbox.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <system_error>

#include <fmt/core.h>

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

/// A child that kept a socket of its server could answer for another's: failing to close is failing.
void close_from_to(unsigned first, unsigned last) {
  if (::close_range(first, last, 0) != 0) fail("close the server's descriptors (close_range, Linux 5.9)");
}

/// Closes every descriptor above 2 but the kept ones.
void close_others(std::span<const int> keep) {
  std::vector<int> kept(keep.begin(), keep.end());
  std::sort(kept.begin(), kept.end());
  unsigned from = 3;
  for (const int fd : kept) {
    if (static_cast<unsigned>(fd) > from) close_from_to(from, static_cast<unsigned>(fd) - 1);
    if (fd >= 3) from = static_cast<unsigned>(fd) + 1;
  }
  close_from_to(from, UINT_MAX);
}

void silence_standard_streams() {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) fail("open /dev/null");
  for (int fd = 0; fd < 3; ++fd) {
    if (::dup2(null, fd) < 0) fail("silence the standard streams");
  }
  if (null > 2) ::close(null);
}

/// Whether any user may read a folder: it, and what leads to it.
bool is_open_to_all(const std::filesystem::path& folder) {
  struct stat about = {};
  if (::stat(folder.c_str(), &about) != 0) return true;  // nothing there to read
  for (auto path = std::filesystem::weakly_canonical(folder);; path = path.parent_path()) {
    const mode_t needed = path == folder ? S_IROTH | S_IXOTH : S_IXOTH;
    if (::stat(path.c_str(), &about) != 0 || (about.st_mode & needed) != needed) return false;
    if (path == path.parent_path()) return true;
  }
}

/// A user number that nobody else on the machine has, where such numbers are mapped; else the nobody of the system.
/// @source systemd, "Users, Groups, UIDs and GIDs": 0x70000000 to 0x7FFFFFFF are unused
void become_nobody() {
  const auto own = static_cast<uid_t>(0x70000000U + static_cast<std::uint32_t>(::getpid()));
  constexpr uid_t kNobody = 65534;
  if (::setgroups(0, nullptr) != 0 && errno != EPERM) fail("leave root's groups");
  for (const uid_t user : {own, kNobody}) {
    if (::setresgid(user, user, user) == 0 && ::setresuid(user, user, user) == 0) return;
    if (errno != EINVAL && errno != EPERM) fail("become a user of its own");
  }
}

void drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0) fail("drop capabilities");
}

}  // namespace

Sandbox::Sandbox(SandboxProfile profile, SandboxLevel level, std::span<const std::filesystem::path> readable)
    : level_(level) {
  require_sandbox(level);
  if (has_seccomp()) filter_.emplace(profile);
  if (landlock_version() > 0)
    file_rules_ =
        make_landlock_rules(profile == SandboxProfile::python ? readable : std::span<const std::filesystem::path>{});
  own_user_ = ::geteuid() == 0 && std::ranges::all_of(readable, is_open_to_all);
}

void Sandbox::enter(const SandboxLimits& limits, std::span<const int> keep) const {
  ::setsid();
  silence_standard_streams();
  std::vector<int> kept(keep.begin(), keep.end());
  if (file_rules_) kept.push_back(file_rules_.get());
  close_others(kept);
  ::prctl(PR_SET_DUMPABLE, 0);
  set_limits(limits);
  if (own_user_) become_nobody();
  // A change of user takes it away, so it comes after that; a server that has ended by now is seen on the socket.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail("be ended with the server");
  drop_capabilities();
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("give up new privileges");
  const bool strict = level_ == SandboxLevel::strict;
  if (file_rules_ && !apply_landlock(file_rules_.get()) && strict) fail("bind the file rules");
  if (file_rules_) ::close(file_rules_.get());
  if (filter_ && !filter_->install(::getpid()) && strict) fail("install the system call filter");
}

}  // namespace nkigrid::proc
