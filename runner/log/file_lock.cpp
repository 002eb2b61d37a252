#include "runner/log/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>

#include "jobs/base/error.hpp"
#include "runner/log/folder.hpp"

namespace nkigrid::log {

LockResult try_lock(const Fd& fd, const std::filesystem::path& path) {
  int result = 0;
  do result = ::flock(fd.get(), LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  if (result == 0) return LockResult::held;
  switch (errno) {
    case EWOULDBLOCK:
      return LockResult::busy;
    case ENOLCK:
    case ENOSYS:
    case EINVAL:
    case EOPNOTSUPP:
      return LockResult::unsupported;
    default:
      throw_errno(errno, "lock", path.native());
  }
}

/// A shared lock is refused exactly while somebody holds the exclusive one.
bool is_locked(const std::filesystem::path& path) {
  // Not blocking, and no link: the folder may be a stranger's.
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  return fd && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

std::vector<std::string> living_writers(const std::filesystem::path& folder) {
  std::vector<std::string> living;
  for (const auto& stem : stems_of(folder)) {
    if (is_locked(folder / (stem.name + ".journal"))) living.push_back(stem.name);
  }
  return living;
}

bool has_living_writer(const std::filesystem::path& folder) {
  const auto stems = stems_of(folder);
  return std::any_of(stems.begin(), stems.end(),
                     [&](const auto& stem) { return is_locked(folder / (stem.name + ".journal")); });
}

}  // namespace nkigrid::log
