#pragma once

#include <optional>
#include <string>

#include "jobs/run_directory.hpp"
#include "runner/lanes.hpp"
#include "runner/messages.hpp"
#include "runner/run_options.hpp"
#include "runner/stop.hpp"

namespace nkigrid::runner {

/// Carries a stop from its stage to the lanes, and ends the process when its time is over.
/// @threads the main thread of a rank
class Stopper {
 public:
  Stopper(const jobs::Run& run, const RunOptions& options, int rank, LanePool& lanes)
      : run_(run), options_(options), rank_(rank), lanes_(lanes) {}

  void set_end(Seconds end) { plan_.set_end(end); }

  /// @param signal the stop signal that came last, 0: none @returns a trouble to report when it is news
  std::optional<Trouble> look(int signal, Seconds now);

 private:
  [[noreturn]] void abandon();

  const jobs::Run& run_;
  const RunOptions& options_;
  int rank_;
  LanePool& lanes_;
  StopPlan plan_;
  StopStage stage_ = StopStage::none;
  int seen_ = 0;
  std::string reason_;
};

}  // namespace nkigrid::runner
