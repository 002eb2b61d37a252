#include "runner/shard_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdio>

#include <fmt/core.h>

#include "jobs/base/error.hpp"

namespace nkigrid::runner {

ShardLock::ShardLock(const std::filesystem::path& run, std::optional<ShardId> shard, std::uint32_t shards) {
  const auto folder = run / "log" / "locks";
  make_directories(folder);
  const std::uint32_t first = shard ? shard->value : 0;
  const std::uint32_t last = shard ? shard->value + 1 : shards;
  for (std::uint32_t s = first; s < last; ++s) {
    const auto path = folder / fmt::format("shard-{}", s);
    Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (!fd) throw_errno(errno, "open", path.native());
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) {
        throw Error(ErrorCode::config, fmt::format("another process runs shard {} of '{}'; wait for it, or end it first", s, run.native()));
      }
      fmt::print(stderr, "nkigrid: warning: '{}' has no file locks; do not start this shard twice\n", folder.native());
    }
    held_.push_back(std::move(fd));
  }
}

}  // namespace nkigrid::runner
