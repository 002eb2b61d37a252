#pragma once

#include <cstdint>
#include <string>

#include "jobs/base/outcome.hpp"

namespace nkigrid::log {

/// What a node's device did with the attempts that ended there. What never came to it vouches for nothing: a reply
/// without code scores on a node whose device is dead. An endpoint's failures are no node's, nor are those of an
/// episode that fails where others do not (NodeBlame).
struct NodeTally {
  std::uint32_t scored = 0;    ///< attempts whose score the device had a part in
  std::uint32_t failures = 0;  ///< verifier_error, device_error
  /// Of these, the first since the device last had a part in a score, and those begun after it: what was in flight when
  /// a device broke failed with it.
  std::uint32_t failing = 0;
  std::string refused;  ///< why the newest session there could not begin: its device failed; "": it began
};

/// True for a failure that is the node's: what the device could not do.
constexpr bool is_of_node(Outcome outcome) noexcept {
  return outcome == Outcome::verifier_error || outcome == Outcome::device_error;
}

/// True when a node fails more of what it runs than it scores, or all of it of late, often enough to be no accident, or
/// cannot begin: what such a node is given is eaten.
inline constexpr std::uint32_t kNodeFailures = 5;
inline bool eats_episodes(const NodeTally& node) noexcept {
  return !node.refused.empty() || node.failing >= kNodeFailures ||
         (node.failures >= kNodeFailures && node.failures > node.scored);
}

}  // namespace nkigrid::log
