#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "jobs/grid.hpp"
#include "jobs/plan.hpp"
#include "runner/log/ledger.hpp"
#include "runner/messages.hpp"

namespace nkigrid::runner {

/// What a model, a cell or the run has used up, against its budget.
struct Spent {
  double usd = 0;
  std::uint64_t tokens = 0;
};

/// Rank 0's book: which episodes wait, which are in flight, which are parked. Pure state, no communication, no clock.
class Dealer {
 public:
  /// @param order episodes of this shard, in the order to deal them
  /// @param ledger states at the start; spent budgets are read from its counted rows
  Dealer(const jobs::Plan& plan, const jobs::Grid& grid, std::vector<std::uint32_t> order, const log::Ledger& ledger, bool with_parked);

  /// Up to `count` episodes for a rank on `node`, never one that failed on that node while another node is at work.
  std::vector<Assignment> deal(std::uint32_t count, const std::string& node);

  /// Takes a result: a scored episode is finished, an infrastructure failure is dealt again until it is parked, a drained one
  /// stays outstanding.
  void take(const Done& done);

  void stop_model(const std::string& model, std::string reason);  ///< its episodes are dealt no more
  void stop_all(std::string reason);                              ///< nothing is dealt any more
  void set_elapsed(Seconds wall);                                 ///< for wall budgets

  bool idle() const noexcept { return in_flight_.empty(); }
  /// True when nothing that may be dealt waits.
  bool exhausted() const;
  bool stopped() const noexcept { return stopped_; }
  /// Why episodes were left: the first reason given, or "".
  const std::string& stopped_by() const noexcept { return stopped_by_; }

  std::uint64_t episodes() const noexcept { return episodes_; }
  std::uint64_t scored() const noexcept { return scored_; }
  std::uint64_t passed() const noexcept { return passed_; }
  std::uint64_t failed_attempts() const noexcept { return failed_attempts_; }
  /// The reason of the newest infrastructure failure, or "".
  const std::string& last_failure() const noexcept { return last_failure_; }
  std::uint64_t in_flight() const noexcept { return in_flight_.size(); }

 private:
  struct Progress {
    std::uint32_t attempts = 0, infra_failures = 0, dead_attempt = 0;
    std::string last_node;
  };
  bool may_deal(std::uint32_t episode) const;
  void spend(std::uint32_t episode, const Done& done);
  void check_budgets();

  const jobs::Plan& plan_;
  const jobs::Grid& grid_;
  std::deque<std::uint32_t> waiting_;
  std::map<std::uint32_t, Progress> progress_;  ///< of every unscored episode of the shard
  std::set<std::uint32_t> in_flight_;
  std::set<std::string> nodes_;
  std::set<std::string> stopped_models_, stopped_cells_;
  std::map<std::string, Spent> spent_models_, spent_cells_;
  Spent spent_;
  Seconds elapsed_{0};
  bool stopped_ = false;
  std::string stopped_by_, last_failure_;
  std::uint64_t episodes_ = 0, scored_ = 0, passed_ = 0, failed_attempts_ = 0;
};

}  // namespace nkigrid::runner
