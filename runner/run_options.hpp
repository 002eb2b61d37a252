#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobs/base/error.hpp"
#include "jobs/base/ids.hpp"
#include "jobs/scheduler.hpp"

namespace nkigrid::runner {

struct RunOptions {
  std::optional<ShardId> shard;  ///< none: all shards
  std::uint32_t lanes = 0;       ///< a rank; 0: auto
  bool with_parked = false;
  bool quiet = false;
  std::optional<double>
      ends_at;  ///< Unix time [s] at which the batch system ends this allocation (rank 0's counts); none: no limit
  std::uint32_t elements_at_once = 1;  ///< of this run, this one among them: they share the endpoints' concurrency
  jobs::EndQuestion end_question =
      {};  ///< asks anew for that end, which may be moved (rank 0's counts); empty: it stays
  /// The batch system's name for this node, for provenance and for keeping a retry away from a bad one; "": the host's.
  std::string node;
  std::map<std::string, std::string> keys = {};  ///< that were in the environment, by variable
  std::string servers_of = {};                   ///< whose servers its models ask (log::ServerName::owner)
};

/// What run_shard() came to, the same on every rank.
struct RunResult {
  std::uint64_t episodes = 0;  ///< planned in this shard
  std::uint64_t scored = 0;
  std::uint64_t outstanding = 0;
  std::uint64_t begun = 0;  ///< attempts that this session dealt
  std::string stopped_by;   ///< "" or why it stopped early (signal, endpoint, ...)
  ExitCode exit_code = ExitCode::done;
  std::vector<std::string> outdone_nodes = {};  ///< log::Ledger::outdone_nodes() at the end
};

}  // namespace nkigrid::runner
