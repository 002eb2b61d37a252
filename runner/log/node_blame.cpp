#include "runner/log/node_blame.hpp"

#include <algorithm>
#include <utility>

namespace nkigrid::log {

std::vector<std::uint32_t> NodeBlame::see(const std::string& node, const Seen& seen) {
  auto& tally = tallies_[node];
  if (seen.on_device) vouch(node);
  if (!is_of_node(seen.outcome)) return {};
  auto& episode = episodes_[seen.episode];
  episode.failed_on.push_back(node);
  if (episode.suspect) return {};
  auto& streak = streaks_[node];
  count_failure(tally, streak, seen);
  streak.doubtful.push_back(seen.episode);
  if (!eats_episodes(tally)) return {};
  auto given_back = std::exchange(streak.doubtful, {});
  for (const auto doubtful : given_back) {
    auto& nodes = episodes_[doubtful].failed_on;
    nodes.erase(std::find(nodes.begin(), nodes.end(), node));
  }
  return given_back;
}

/// The device works: what failed on it since it last did failed for a reason of its own.
void NodeBlame::vouch(const std::string& node) {
  auto& tally = tallies_[node];
  ++tally.scored;
  tally.failing = 0;
  for (const auto episode : std::exchange(streaks_[node].doubtful, {})) episodes_[episode].suspect = true;
}

/// What was in flight when a device broke failed with it; what failed beyond that was given to a broken device.
void NodeBlame::count_failure(NodeTally& tally, Streak& streak, const Seen& seen) {
  ++tally.failures;
  if (tally.failing == 0) streak.broke_at = seen.ended;
  if (tally.failing == 0 || seen.begun >= streak.broke_at) ++tally.failing;
}

std::uint32_t NodeBlame::counted(std::uint32_t episode) const {
  const auto at = episodes_.find(episode);
  return at != episodes_.end() ? static_cast<std::uint32_t>(at->second.failed_on.size()) : 0;
}

bool NodeBlame::is_in_doubt(std::uint32_t episode) const {
  const auto at = episodes_.find(episode);
  if (at == episodes_.end() || at->second.suspect) return false;
  const auto& nodes = at->second.failed_on;
  return !nodes.empty() && std::all_of(nodes.begin(), nodes.end(), [&](const auto& n) { return n == nodes.front(); });
}

bool NodeBlame::is_suspect(std::uint32_t episode) const {
  const auto at = episodes_.find(episode);
  return at != episodes_.end() && at->second.suspect;
}

const NodeTally& NodeBlame::tally(const std::string& node) const {
  static const NodeTally none;
  const auto at = tallies_.find(node);
  return at != tallies_.end() ? at->second : none;
}

}  // namespace nkigrid::log
