#include "runner/proc/sandbox.hpp"

#include <fcntl.h>
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

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "runner/proc/landlock.hpp"
#include "runner/proc/must.hpp"
#include "runner/proc/own_user.hpp"

namespace nkigrid::proc {
namespace {

void limit(int resource, std::uint64_t most, const char* step) {
  const rlimit both{most, most};
  must(::setrlimit(static_cast<__rlimit_resource_t>(resource), &both) == 0, step);
}

/// A site's own limit (`ulimit -v`, a batch system's memory limit) is not raised by us: a kernel that met it would fail
/// for what is not its fault.
void limit_memory(std::uint64_t bytes) {
  rlimit site{};
  must(::getrlimit(RLIMIT_AS, &site) == 0, "read the limit of memory");
  if (site.rlim_max < bytes)
    throw Error(ErrorCode::external,
                fmt::format("sandbox: this session may use {} MiB of address space (ulimit -v), a child of nkigrid "
                            "needs {} MiB; raise the limit where nkigrid is started, or ask the site to",
                            site.rlim_max >> 20, bytes >> 20));
  limit(RLIMIT_AS, bytes, "limit memory");
}

void set_limits(const SandboxLimits& limits) {
  if (limits.address_space_bytes > 0) limit_memory(limits.address_space_bytes);
  if (limits.cpu_seconds > 0) limit(RLIMIT_CPU, limits.cpu_seconds, "limit cpu time");
  limit(RLIMIT_CORE, 0, "forbid core files");
  limit(RLIMIT_FSIZE, 0, "forbid writing files");
  limit(RLIMIT_NOFILE, 64, "limit descriptors");
  limit(RLIMIT_NPROC, 0, "forbid children");  // does not bind for root; the filter does
}

/// A child that kept a socket of its server could answer for another's: failing to close is failing.
void close_from_to(unsigned first, unsigned last) {
  must(::close_range(first, last, 0) == 0, "close the server's descriptors (close_range, Linux 5.9)");
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
  must(null >= 0, "open /dev/null");
  for (int fd = 0; fd < 3; ++fd) must(::dup2(null, fd) == fd, "silence the standard streams");
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

void drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  must(::syscall(SYS_capset, &header, none) == 0, "drop capabilities");
}

}  // namespace

Sandbox::Sandbox(SandboxProfile profile, SandboxLevel level, std::span<const std::filesystem::path> readable)
    : level_(level) {
  require_sandbox(level);
  if (has_seccomp()) filter_.emplace(profile);
  if (landlock_version() > 0)
    file_rules_ =
        make_landlock_rules(profile == SandboxProfile::python ? readable : std::span<const std::filesystem::path>{});
  own_user_ = can_become_nobody() && std::ranges::all_of(readable, is_open_to_all);
}

void Sandbox::enter(const SandboxLimits& limits, std::span<const int> keep) const {
  must(::setsid() >= 0, "leave the server's session");
  silence_standard_streams();
  std::vector<int> kept(keep.begin(), keep.end());
  if (file_rules_) kept.push_back(file_rules_.get());
  close_others(kept);
  must(::prctl(PR_SET_DUMPABLE, 0) == 0, "be unreadable to others");
  set_limits(limits);
  if (own_user_) must(become_nobody(), "become a user of its own");
  // A change of user takes it away, so it comes after that; a server that has ended by now is seen on the socket.
  must(::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "be ended with the server");
  drop_capabilities();
  must(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "give up new privileges");
  const bool strict = level_ == SandboxLevel::strict;
  if (file_rules_) must(apply_landlock(file_rules_.get()) || !strict, "bind the file rules (Landlock)");
  if (file_rules_) ::close(file_rules_.get());
  if (filter_) must(filter_->install(::getpid()) || !strict, "install the system call filter (seccomp)");
}

}  // namespace nkigrid::proc
