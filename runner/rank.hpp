#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "jobs/run_directory.hpp"
#include "runner/device/device.hpp"
#include "runner/endpoint_gate.hpp"
#include "runner/heartbeat.hpp"
#include "runner/histories.hpp"
#include "runner/lanes.hpp"
#include "runner/leader.hpp"
#include "runner/log/journal.hpp"
#include "runner/mpi/comm.hpp"
#include "runner/permits.hpp"
#include "runner/poll_backoff.hpp"
#include "runner/run_options.hpp"
#include "runner/stop.hpp"
#include "runner/stopper.hpp"
#include "runner/worker.hpp"

namespace nkigrid::runner {

/// Where a rank works. Outlives it.
struct RankContext {
  const jobs::Run& run;
  mpi::Comm& comm;
  const Clock& clock;
  const RunOptions& options;
  const std::atomic<int>& stop;  ///< the number of the stop signal that came last
  std::string node;
};

/// One rank of a run: its lanes, its journal, and the loop of its main thread.
class Rank {
 public:
  /// @param leader on rank 0 what it is besides, else null; outlives this
  Rank(RankContext context, std::shared_ptr<device::Device> device, Leader* leader);

  /// From the first episode to the last rank's seal. @ranks collective
  RunResult work();
  /// True once the shard is known to be this run's: rank 0 has begun it.
  bool begun() const noexcept { return begun_; }

 private:
  bool take_messages();
  bool pump();
  void watch_ranks();
  void seal_when_idle();
  void begin(const Start& start);
  void move_end(const TimeLeft& left);

  RankContext at_;
  std::shared_ptr<device::Device> device_;
  Leader* leader_;
  Bell bell_;
  RankPermits permits_;
  EndpointGate gate_;
  log::Journal journal_;
  TurnClock turns_;
  Histories histories_;
  LaneContext lane_context_;
  std::optional<LanePool> lanes_;  ///< until the run ends
  Stopper stopper_;
  Worker worker_;
  Heartbeat heartbeat_;
  PollBackoff backoff_;
  bool begun_ = false, sealed_ = false;
};

}  // namespace nkigrid::runner
