#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobs/endpoints.hpp"
#include "jobs/run_directory.hpp"
#include "runner/coordinator.hpp"
#include "runner/end_watch.hpp"
#include "runner/log/ledger.hpp"
#include "runner/mpi/comm.hpp"
#include "runner/run_options.hpp"
#include "runner/shard_lock.hpp"
#include "runner/stop.hpp"

namespace nkigrid::runner {

/// Elements that work at once share the endpoints' concurrency; whoever runs by hand has all of it.
jobs::EndpointPart endpoint_part(const RunOptions& options);

/// Why a session that nothing stopped left episodes of `order`: they are parked, or nodes failed them that nothing has
/// vouched for since (docs/decisions/nodes.md).
std::string why_left(const log::Ledger& ledger, const std::vector<std::uint32_t>& order);

/// What rank 0 is beside a rank: owner of the shard, keeper of its time, and who says how the run ended.
class Leader {
 public:
  /// Takes the shard and reads what is left of it. @throws Error{external} when another process holds it; Error{io}
  static Leader make(const jobs::Run& run, mpi::Comm& comm, const Clock& clock, const RunOptions& options);

  void start();  ///< tells every rank what it must know before its first episode
  void handle(const mpi::Incoming& message) { coordinator_.handle(message); }
  PermitOffice& permits() noexcept { return coordinator_.permits(); }
  /// What time brings: budgets, the progress line, an end of the allocation that was moved.
  void tick(const TurnClock& turns);

  /// True once, when every rank has sealed its journal.
  bool may_finish() const noexcept { return !finished_ && coordinator_.all_sealed(); }
  /// Lets the line of progress stand as it is: what follows has words of its own.
  void end_progress() { coordinator_.finish_progress(); }
  /// Seals what dead writers left, notes why the run stopped, and tells every rank the result.
  void finish();

 private:
  Leader(const jobs::Run& run, mpi::Comm& comm, const Clock& clock, const RunOptions& options, ShardLock lock,
         std::vector<std::uint32_t> order, Dealer dealer);
  RunResult result() const;
  void tell_end(double seconds_left);

  const jobs::Run& run_;
  const Clock& clock_;
  const RunOptions& options_;
  ShardLock lock_;
  std::vector<std::uint32_t> order_;  ///< episodes of the shard
  Coordinator coordinator_;
  EndWatch end_watch_;
  bool finished_ = false, noted_ = false;
};

}  // namespace nkigrid::runner
