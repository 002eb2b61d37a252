#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "jobs/base/clock.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/ids.hpp"

namespace nkigrid::runner {

/// Holds the shards that a process works on, so that no episode has two living owners on one file system.
/// Where the file system has no locks (some NFS mounts) attempts still fence each other in the ledger; a warning says
/// so.
class ShardLock {
 public:
  /// @param shard one shard, or none: all `shards`
  /// @param patience how long to wait for another owner to end: a requeued element may start before its predecessor is
  /// dead
  /// @throws Error{config} naming the shard when another process holds it; Error{io}.
  ShardLock(const std::filesystem::path& run, std::optional<ShardId> shard, std::uint32_t shards,
            Seconds patience = Seconds(0));

  /// The how-many-th owner of these shards this process is, from 1 (the highest of several shards'): an owner's
  /// attempts are numbered from it on, so that an earlier owner that lives on unseen (its node was cut off, its stepd
  /// killed) never shares an attempt with it.
  std::uint32_t owner() const noexcept { return owner_; }

 private:
  std::uint32_t owner_ = 1;
  std::vector<Fd> held_;
};

/// True while a process holds the shard. False where the file system has no locks.
bool is_owned(const std::filesystem::path& run, ShardId shard);

}  // namespace nkigrid::runner
