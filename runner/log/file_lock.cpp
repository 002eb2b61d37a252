#include "runner/log/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

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

bool has_living_writer(const std::filesystem::path& folder) {
  for (const auto& stem : stems_of(folder)) {
    const auto journal = folder / (stem.name + ".journal");
    const Fd fd(::open(journal.c_str(), O_RDONLY | O_CLOEXEC));
    // A shared lock is refused exactly while somebody holds the exclusive one.
    if (fd && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) return true;
  }
  return false;
}

}  // namespace nkigrid::log
