#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "jobs/plan.hpp"

namespace nkigrid::jobs {

/// Indices into plan.episodes, expected longest first, ties by a draw keyed H(purpose, cell, task) at place
/// `replicate`: the order does not depend on the grid file's, nor on that of tasks and replicates.
/// @param seconds expected seconds of (cell, task), {cells x tasks}
std::vector<std::uint32_t> longest_first(const Plan& plan, std::span<const double> seconds, std::string_view purpose);

/// Spreads a stream of episodes, longest first, over shards: always to those that hold fewest, the longest to the one
/// with the least work. Counts differ by one at most, and work by little more than the shortest episodes of the stream.
/// @source LPT under a cardinality rule: Graham, SIAM J. Appl. Math. 17 (1969); Babel, Kellerer, Kotov, Math. Methods
/// of OR 47 (1998)
class ShardSpreader {
 public:
  explicit ShardSpreader(std::uint32_t shards);
  /// @returns the shard of the next episode, of `seconds` expected
  std::uint32_t next(double seconds);

 private:
  std::vector<double> loads_;         ///< work given to each shard so far [s]
  std::vector<std::uint32_t> round_;  ///< shards of this round, most work first; the last is next
};

/// Gives every episode its shard, balanced by expected seconds; what an earlier extent held is spread first, so that it
/// stays where it was while shard count and costs do.
void deal_shards(Plan& plan, std::span<const double> seconds, std::span<const PlanExtent> grown_from);

/// Episodes of one shard, or all, as indices into plan.episodes, in the order to deal them: expected longest first,
/// ties by a keyed hash.
/// @param seconds expected seconds of (cell, task), {cells x tasks}: expected_seconds()
std::vector<std::uint32_t> dealing_order(const Plan& plan, std::span<const double> seconds,
                                         std::optional<ShardId> shard);

}  // namespace nkigrid::jobs
