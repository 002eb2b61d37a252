#include "runner/log/spent.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "runner/log/turn_summaries.hpp"

namespace nkigrid::log {

void add_unfinished_spend(const jobs::Plan& plan, const RunLog& log, Ledger& ledger) {
  const auto is_unfinished = [](const EpisodeState& state) { return state.unfinished; };
  if (std::none_of(ledger.states.begin(), ledger.states.end(), is_unfinished)) return;
  std::unordered_map<std::uint32_t, std::vector<TurnSummary>> turns;  // of unfinished episodes, of all attempts
  read_turn_summaries(plan, log, [&](const TurnSummary& turn) {
    if (ledger.states[turn.episode].unfinished) turns[turn.episode].push_back(turn);
  });
  for (const auto& [episode, all] : turns) {
    auto& state = ledger.states[episode];
    std::unordered_map<std::uint32_t, std::uint32_t> payers;  // of a turn, the first attempt that has it
    for (const auto& turn : all) {
      const auto payer = payers.try_emplace(turn.turn, turn.attempt).first;
      payer->second = std::min(payer->second, turn.attempt);
    }
    for (const auto& turn : all) {
      if (turn.attempt != state.attempts || payers.at(turn.turn) != turn.attempt) continue;
      state.spent_usd += turn.cost_usd;
      state.spent_tokens += std::uint64_t{turn.tokens_in} + turn.tokens_out;
    }
  }
}

}  // namespace nkigrid::log
