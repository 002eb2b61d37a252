#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "jobs/base/outcome.hpp"
#include "runner/log/node_tally.hpp"

namespace nkigrid::log {

/// Whose fault attempts' failures were, a node's or the episode's: told of ends of attempts in the order in which they
/// came, it says which nodes eat episodes and how many failures count against an episode (docs/decisions/nodes.md).
/// Pure state; O(1) an attempt in the mean.
class NodeBlame {
 public:
  /// The end of an attempt. Times are in any unit that grows, the same for all.
  struct Seen {
    std::uint32_t episode = 0;
    Outcome outcome = Outcome::killed;
    bool on_device = false;  ///< was_on_device()
    double begun = 0, ended = 0;
  };

  /// @returns the episodes that get failures back because this one finds the node out; one may come several times
  std::vector<std::uint32_t> see(const std::string& node, const Seen& seen);

  /// Failures of a node's kind that count against the episode.
  std::uint32_t counted(std::uint32_t episode) const;
  /// True when all of them were on one node that nothing has vouched for since: the node may be their cause.
  bool is_in_doubt(std::uint32_t episode) const;
  /// True when the episode failed on a device that did its work afterwards: it is the cause of its own failures.
  bool is_suspect(std::uint32_t episode) const;
  void suspect(std::uint32_t episode) { episodes_[episode].suspect = true; }  ///< of an earlier session

  /// A node that was never seen has an empty tally.
  const NodeTally& tally(const std::string& node) const;
  const std::map<std::string, NodeTally>& nodes() const noexcept { return tallies_; }

 private:
  struct Episode {
    std::vector<std::string> failed_on;  ///< the node of each failure that counts
    bool suspect = false;
  };
  struct Streak {
    double broke_at = 0;                  ///< end of the first failure since the device last had a part in a score
    std::vector<std::uint32_t> doubtful;  ///< episodes that failed since then, one for each failure that counts
  };
  void vouch(const std::string& node);
  void count_failure(NodeTally& tally, Streak& streak, const Seen& seen);

  std::unordered_map<std::uint32_t, Episode> episodes_;  ///< those that failed
  std::map<std::string, NodeTally> tallies_;
  std::map<std::string, Streak> streaks_;
};

}  // namespace nkigrid::log
