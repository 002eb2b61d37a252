#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/lanes.hpp"
#include "runner/messages.hpp"
#include "runner/mpi/comm.hpp"
#include "runner/permits.hpp"
#include "runner/prefetch.hpp"

namespace nkigrid::runner {

/// The main thread of one rank between its lanes and rank 0: carries what lanes report and want to rank 0, and what
/// rank 0 says to them.
class Worker {
 public:
  /// What a rank does besides when rank 0 says so.
  struct Hooks {
    std::function<void(const Start&)> start;
    std::function<void(const TimeLeft&)> move_end;
  };
  Worker(mpi::Comm& comm, LanePool& lanes, RankPermits& permits, std::string node, Hooks hooks);

  /// Sends what the lanes have to say and what they lack. @returns true when something moved
  bool pump(Seconds now);
  void handle(const mpi::Incoming& message);
  void send(Tag tag, const std::string& bytes, std::string_view hint);

  bool finishing() const noexcept { return finishing_; }  ///< nothing is left in flight on any rank
  const std::optional<RunResult>& result() const noexcept { return result_; }

 private:
  void give(std::vector<Assignment> work);

  mpi::Comm& comm_;
  LanePool& lanes_;
  RankPermits& permits_;
  std::string node_;
  Hooks hooks_;
  WorkRequests requests_;
  bool started_ = false, finishing_ = false;
  std::optional<RunResult> result_;
};

}  // namespace nkigrid::runner
