#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "jobs/grid/grid.hpp"
#include "jobs/plan.hpp"
#include "runner/budgets.hpp"
#include "runner/log/ledger.hpp"
#include "runner/log/node_blame.hpp"
#include "runner/messages.hpp"
#include "runner/waiting_list.hpp"

namespace nkigrid::runner {

/// Rank 0's book: which episodes wait, which are in flight, which are parked. Pure state, no communication, no clock.
/// Dealing and taking back cost O(1) an episode, whatever has stopped or failed; stopping a model or a cell costs one
/// pass.
class Dealer {
 public:
  /// @param order episodes of this shard, in the order to deal them
  /// @param ledger states at the start; budgets start at what all attempts have spent
  /// @param owner the lowest number that a new attempt may have (ShardLock::owner)
  Dealer(const jobs::Plan& plan, const jobs::Grid& grid, std::vector<std::uint32_t> order, const log::Ledger& ledger,
         bool with_parked, std::uint32_t owner = 1);

  /// Up to `count` episodes for a rank on `node`, never one that failed on that node while another node is at work, and
  /// none at all for a node that eats episodes while another one does not.
  std::vector<Assignment> deal(std::uint32_t count, const std::string& node);

  /// Takes a result: a scored episode is finished, an infrastructure failure is dealt again until it is parked, a
  /// drained one stays outstanding.
  void take(const Done& done);

  void spend(const Spent& spent);  ///< what replies cost, against the budgets
  /// Cells that a budget has closed since this was asked last: what is in flight of them is to stop between turns.
  std::vector<std::uint32_t> take_closed() { return std::exchange(closed_, {}); }
  void stop_model(const std::string& model, const std::string& reason);  ///< its episodes are dealt no more
  void stop_cell(const std::string& cell, const std::string& reason);
  void stop_all(const std::string& reason);  ///< nothing is dealt any more
  void set_elapsed(Seconds wall);            ///< for wall budgets

  bool idle() const noexcept { return in_flight_ == 0; }
  /// True when nothing that may be dealt waits.
  bool exhausted() const noexcept { return stopped_ || waiting_.empty(); }
  bool stopped() const noexcept { return stopped_; }
  /// Why episodes were left, or "": a reason for each model that was stopped, for each has its own to mend, and of
  /// cells and the whole run the first.
  const std::string& stopped_by() const noexcept { return stopped_by_; }

  std::uint64_t episodes() const noexcept { return episodes_; }
  std::uint64_t scored() const noexcept { return scored_; }
  std::uint64_t passed() const noexcept { return passed_; }
  std::uint64_t failed_attempts() const noexcept { return failed_attempts_; }
  /// The reason of the newest infrastructure failure, or "".
  const std::string& last_failure() const noexcept { return last_failure_; }
  std::uint64_t in_flight() const noexcept { return in_flight_; }
  std::uint64_t dealt() const noexcept { return dealt_; }  ///< attempts, in this session
  std::uint64_t waiting() const noexcept { return waiting_.size(); }
  /// Waiting episodes that an earlier session's attempts may have left turns of.
  std::vector<std::uint32_t> resumed() const;

 private:
  /// Of an episode that was dealt, or that earlier sessions began.
  struct Tries {
    std::uint32_t attempts = 0;
    std::uint32_t infra_failures = 0;  ///< of earlier sessions, and the endpoint's; blame_ counts the nodes'
    std::uint32_t dead_attempt = 0;
    bool has_history = false, in_flight = false, parked = false;
    std::uint64_t dealt = 0;  ///< dealt() when it was dealt last
    std::string last_node;
    std::string failed_on;  ///< the node whose own failure was the newest, or ""
  };
  std::uint32_t model_of(std::uint32_t cell) const { return budgets_.model_of(cell); }
  bool may_deal(std::uint32_t episode) const;
  const std::string& failed_on(std::uint32_t episode) const;
  void put_back(std::uint32_t episode, Tries& tries);
  void see_node(const Done& done, const Tries& tries);
  void stop_without_nodes(const Done& done);
  void check_budgets(std::uint32_t cell);
  void check_all_budgets();
  enum class Whose { model, cell, run };
  void stop(bool& stopped, const std::string& reason, Whose whose);
  void tell(const std::string& reason, Whose whose);

  const jobs::Plan& plan_;
  const jobs::Grid& grid_;
  std::uint32_t first_attempt_;  ///< of an episode that nobody began
  WaitingList waiting_;          ///< only what may be dealt
  std::unordered_map<std::uint32_t, Tries> tries_;
  log::NodeBlame blame_;         ///< of this session, in which a node that was mended is as good as any
  std::set<std::string> nodes_;  ///< at work, in this session
  Budgets budgets_;
  std::vector<std::uint32_t> closed_;  ///< take_closed()
  std::deque<bool> stopped_models_, stopped_cells_;
  bool stopped_ = false;
  bool told_other_ = false;  ///< a reason that is no model's
  std::string stopped_by_, last_failure_;
  std::uint64_t episodes_ = 0, scored_ = 0, passed_ = 0, failed_attempts_ = 0, in_flight_ = 0, dealt_ = 0;
};

}  // namespace nkigrid::runner
