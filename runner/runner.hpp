#pragma once

#include <atomic>
#include <memory>

#include "jobs/base/clock.hpp"
#include "jobs/run_directory.hpp"
#include "runner/device/device.hpp"
#include "runner/mpi/comm.hpp"
#include "runner/run_options.hpp"

namespace nkigrid::runner {

/// Runs the outstanding episodes of a frozen run: rank 0 deals, every rank's lanes work, each rank journals and seals.
/// Notes in the log's folder why it stopped early. Turns that cannot end before the allocation does are not begun;
/// where turns in flight outlast it all the same, or SIGTERM's grace, the process ends at once with code 1 and does not
/// return (docs/decisions/stopping.md).
/// @param stop becomes the number of SIGTERM, SIGINT or SIGUSR1: no turn is begun, what runs is drained
/// @ranks collective; the main thread of each calls it
RunResult run_shard(const jobs::Run& run, mpi::Comm& comm, std::shared_ptr<device::Device> device, const Clock& clock,
                    const RunOptions& options, const std::atomic<int>& stop);

}  // namespace nkigrid::runner
