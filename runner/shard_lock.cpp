#include "runner/shard_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/foreign_files.hpp"
#include "jobs/base/notice.hpp"

namespace nkigrid::runner {

namespace {

/// Reads and raises the count of owners that the lock file holds.
std::uint32_t next_owner(const Fd& fd, const std::filesystem::path& path) {
  char text[16] = {};
  if (::pread(fd.get(), text, sizeof text - 1, 0) < 0) throw_errno(errno, "read", path.native());
  const auto owner = static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)) + 1;
  const auto line = fmt::format("{:010}\n", owner);
  if (::pwrite(fd.get(), line.data(), line.size(), 0) != static_cast<ssize_t>(line.size()))
    throw_errno(errno, "write", path.native());
  return owner;
}

std::filesystem::path lock_file(const std::filesystem::path& run, std::uint32_t shard) {
  return run / "log" / "locks" / fmt::format("shard-{}", shard);
}

/// @returns false with errno set when it is still held at the deadline, or cannot be locked at all
bool lock_until(const Fd& fd, std::chrono::steady_clock::time_point deadline) {
  constexpr std::chrono::milliseconds kLook{200};
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK || std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

}  // namespace

ShardLock::ShardLock(const std::filesystem::path& run, std::optional<ShardId> shard, std::uint32_t shards,
                     Seconds patience) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::milliseconds>(patience);
  const auto folder = run / "log" / "locks";
  make_directories(folder);
  const std::uint32_t first = shard ? shard->value : 0;
  const std::uint32_t last = shard ? shard->value + 1 : shards;
  for (std::uint32_t s = first; s < last; ++s) {
    const auto path = lock_file(run, s);
    Fd fd = open_own_file(path, O_RDWR);
    if (!lock_until(fd, deadline)) {
      if (errno == EWOULDBLOCK) {
        throw Error(
            ErrorCode::external,
            fmt::format("another process runs shard {} of '{}'; wait for it, or end it first", s, run.native()));
      }
      warn("'{}' has no file locks; do not start this shard twice", folder.native());
    }
    owner_ = std::max(owner_, next_owner(fd, path));
    held_.push_back(std::move(fd));
  }
}

bool is_owned(const std::filesystem::path& run, ShardId shard) {
  const Fd fd(::open(lock_file(run, shard.value).c_str(), O_RDONLY | O_CLOEXEC));
  // A shared lock is refused exactly while somebody holds the exclusive one.
  return fd && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace nkigrid::runner
