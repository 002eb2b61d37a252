#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "jobs/base/files.hpp"
#include "jobs/base/ids.hpp"

namespace nkigrid::runner {

/// Holds the shards that a process works on, so that no episode has two living owners on one file system.
/// Where the file system has no locks (some NFS mounts) attempts still fence each other in the ledger; a warning says so.
class ShardLock {
 public:
  /// @param shard one shard, or none: all `shards`
  /// @throws Error{config} naming the shard when another process holds it; Error{io}.
  ShardLock(const std::filesystem::path& run, std::optional<ShardId> shard, std::uint32_t shards);

 private:
  std::vector<Fd> held_;
};

}  // namespace nkigrid::runner
