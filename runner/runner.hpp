#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jobs/base/error.hpp"
#include "jobs/run_directory.hpp"
#include "runner/device/device.hpp"
#include "runner/end_watch.hpp"
#include "runner/log/journal.hpp"
#include "runner/mpi/comm.hpp"

namespace nkigrid::runner {

/// Where this rank runs, for provenance and for keeping a retry away from a bad node. On one machine that plays several
/// Slurm nodes the host name is the same for all, hence SLURMD_NODENAME first.
std::string node_name();

struct RunOptions {
  std::optional<ShardId> shard;  ///< none: all shards
  std::uint32_t lanes = 0;       ///< a rank; 0: auto
  bool with_parked = false;
  bool quiet = false;
  std::optional<double>
      ends_at;  ///< Unix time [s] at which the batch system ends this allocation (rank 0's counts); none: no limit
  std::uint32_t elements_at_once = 1;  ///< of this run, this one among them: they share the endpoints' concurrency
  EndQuestion end_question = {};  ///< asks anew for that end, which may be moved (rank 0's counts); empty: it stays
};

/// What run_shard() came to, the same on every rank.
struct RunResult {
  std::uint64_t episodes = 0;  ///< planned in this shard
  std::uint64_t scored = 0;
  std::uint64_t outstanding = 0;
  std::string stopped_by;               ///< "" or why it stopped early (signal, endpoint, ...)
  ExitCode exit_code = ExitCode::done;  ///< by the contract
};

/// Runs the outstanding episodes of a frozen run: rank 0 deals, every rank's lanes work, each rank journals and seals.
/// Notes in the log's folder why it stopped early. Turns that cannot end before the allocation does are not begun;
/// where turns in flight outlast it all the same, or SIGTERM's grace, the process ends at once with code 1 and does not
/// return (docs/decisions/stopping.md).
/// @param stop becomes the number of SIGTERM, SIGINT or SIGUSR1: no turn is begun, what runs is drained
/// @ranks collective; the main thread of each calls it
RunResult run_shard(const jobs::Run& run, mpi::Comm& comm, std::shared_ptr<device::Device> device, const Clock& clock,
                    const RunOptions& options, const std::atomic<int>& stop);

}  // namespace nkigrid::runner
