#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "jobs/plan.hpp"
#include "runner/log/ledger.hpp"
#include "runner/log/run_log.hpp"
#include "runner/log/turn_summaries.hpp"

namespace nkigrid::log {

/// What a logged reply is to the score of its episode.
enum class TurnPart : std::uint8_t {
  counted,   ///< of the conversation that led to the score: the counted attempt made it or inherited it
  lost,      ///< paid for, and no part of that conversation
  repeated,  ///< the first row of a reply whose tools had not answered when its attempt ended, and that a later attempt
             ///< took over under its own number: paid for once, told there
};

/// The parts of one episode's logged replies, parallel to `turns`.
/// @param counted_attempt 0: the episode has no score, so none counts
/// @param inherited_turns of the counted attempt
std::vector<TurnPart> parts_of(std::span<const TurnSummary> turns, std::uint32_t counted_attempt,
                               std::uint32_t inherited_turns);

/// The parts of all replies of a run's log. Memory: those of episodes that were tried more than once.
class TurnParts {
 public:
  /// @throws Error{io, corrupt} as read_turn_summaries()
  TurnParts(const jobs::Plan& plan, const RunLog& log, const Ledger& ledger);
  /// @param episode index into plan.episodes
  TurnPart of(std::uint32_t episode, std::uint32_t attempt, std::uint32_t turn) const;

 private:
  const Ledger& ledger_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, TurnPart> tried_again_;
};

}  // namespace nkigrid::log
