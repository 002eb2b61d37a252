#include "runner/log/file_lock.hpp"

#include <sys/file.h>

#include <cerrno>

#include "jobs/base/error.hpp"

namespace nkigrid::log {

LockResult try_lock(const Fd& fd, const std::filesystem::path& path) {
  int result = 0;
  do result = ::flock(fd.get(), LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  if (result == 0) return LockResult::held;
  switch (errno) {
    case EWOULDBLOCK: return LockResult::busy;
    case ENOLCK:
    case ENOSYS:
    case EINVAL:
    case EOPNOTSUPP: return LockResult::unsupported;
    default: throw_errno(errno, "lock", path.native());
  }
}

}  // namespace nkigrid::log
