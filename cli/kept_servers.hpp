#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jobs/base/clock.hpp"
#include "jobs/base/ids.hpp"
#include "jobs/run_directory.hpp"
#include "jobs/servers.hpp"
#include "runner/log/ledger.hpp"
#include "runner/proc/spawn.hpp"

namespace nkigrid::cli {

/// The servers that what is outstanding of these shards asks (none: all shards).
std::vector<jobs::KeptServer> servers_to_run(const jobs::Run& run, const log::Ledger& ledger,
                                             std::optional<ShardId> shard, bool with_parked);

/// Whose servers a session on `shard` keeps: log::ServerName::owner.
std::string owner_of(std::optional<ShardId> shard);

/// How a session waits for servers.
struct Waiting {
  const std::atomic<int>& stop;  ///< another number than 0 ends the wait
  bool quiet = false;
};

/// Processes of this machine that keep servers for this one (`tend`), a replica each. They end their servers when this
/// object dies, and when this process does, however it dies.
class LocalKeepers {
 public:
  /// Starts the keepers of `servers`, and waits until each has begun, or for a stop. Does nothing where there is no
  /// server. @param open other machines ask them, too
  /// @throws Error{external} when one ends before it begins; the others have ended then
  LocalKeepers(const jobs::Run& run, const std::string& owner, const std::vector<jobs::KeptServer>& servers, bool open,
               const Waiting& waiting);
  ~LocalKeepers();
  LocalKeepers(const LocalKeepers&) = delete;
  LocalKeepers& operator=(const LocalKeepers&) = delete;

 private:
  LocalKeepers() = default;  ///< whoever throws while it starts keepers ends those that it has started
  struct Keeper {
    proc::Process process;
    Fd word;  ///< it says there that it has begun
    std::string server;
  };
  void start(const jobs::Run& run, const std::vector<std::string>& words, const std::string& server);
  static void await_begun(Keeper& keeper, const std::atomic<int>& stop);

  std::vector<Keeper> keepers_;
};

/// How long a session waits for servers.
enum class Patience {
  first_replica,  ///< jobs: the others may wait for nodes longer than the grid takes
  all_replicas,   ///< processes of this machine: until each is healthy or has failed
};

/// Waits until each of the servers has a healthy replica, or for a stop.
/// @throws Error{external} when one has none left that may become healthy, or none within its start_timeout and a bit
void await_servers(const jobs::Run& run, const std::string& owner, const std::vector<jobs::KeptServer>& servers,
                   Patience patience, const Waiting& waiting);

}  // namespace nkigrid::cli
