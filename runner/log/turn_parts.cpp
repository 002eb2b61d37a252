#include "runner/log/turn_parts.hpp"

#include <algorithm>
#include <unordered_map>

namespace nkigrid::log {
namespace {

/// Whether a later attempt's row is the same reply taken over: the copy differs in the attempt alone, and nobody waits
/// twice for the same nanoseconds.
bool is_copy(const TurnSummary& later, const TurnSummary& turn) {
  return later.attempt > turn.attempt && later.turn == turn.turn && later.llm_s == turn.llm_s &&
         later.tokens_in == turn.tokens_in && later.tokens_out == turn.tokens_out;
}

}  // namespace

std::vector<TurnPart> parts_of(std::span<const TurnSummary> turns, std::uint32_t counted_attempt,
                               std::uint32_t inherited_turns) {
  const auto inherited = [&](const TurnSummary& turn) {
    return turn.attempt < counted_attempt && turn.turn <= inherited_turns && turn.answered;
  };
  // Of several attempts that took the same turn the last one's was inherited: it hid the others.
  const auto hides = [&](const TurnSummary& later, const TurnSummary& turn) {
    return later.turn == turn.turn && later.attempt > turn.attempt && inherited(later);
  };
  std::vector<TurnPart> parts;
  for (const auto& turn : turns) {
    const auto any = [&](const auto& test) {
      return std::any_of(turns.begin(), turns.end(), [&](const auto& other) { return test(other, turn); });
    };
    if (!turn.answered && any(is_copy))
      parts.push_back(TurnPart::repeated);
    else if (counted_attempt > 0 && (turn.attempt == counted_attempt || (inherited(turn) && !any(hides))))
      parts.push_back(TurnPart::counted);
    else
      parts.push_back(TurnPart::lost);
  }
  return parts;
}

TurnParts::TurnParts(const jobs::Plan& plan, const RunLog& log, const Ledger& ledger) : ledger_(ledger) {
  const auto again = [](const EpisodeState& state) { return state.attempts > 1; };
  if (std::none_of(ledger.states.begin(), ledger.states.end(), again)) return;
  std::unordered_map<std::uint32_t, std::vector<TurnSummary>> tried_again;
  read_turn_summaries(plan, log, [&](const TurnSummary& turn) {
    if (again(ledger.states[turn.episode])) tried_again[turn.episode].push_back(turn);
  });
  for (const auto& [episode, turns] : tried_again) {
    const auto& end = ledger.ends[episode];
    const auto parts = parts_of(turns, ledger.states[episode].counted_attempt, end ? end->inherited_turns : 0);
    for (std::size_t i = 0; i < turns.size(); ++i) tried_again_[{episode, turns[i].attempt, turns[i].turn}] = parts[i];
  }
}

TurnPart TurnParts::of(std::uint32_t episode, std::uint32_t attempt, std::uint32_t turn) const {
  if (const auto at = tried_again_.find({episode, attempt, turn}); at != tried_again_.end()) return at->second;
  return ledger_.states[episode].counted_attempt == attempt ? TurnPart::counted : TurnPart::lost;
}

}  // namespace nkigrid::log
