#include "aggregate/evidence/turn_facts.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "runner/log/turn_parts.hpp"
#include "runner/log/turn_summaries.hpp"

namespace nkigrid::aggregate {
namespace {

void add_failure(Trail& trail, std::uint32_t turn, Code code) {
  if (trail.first_turn == 0 || turn < trail.first_turn) trail.first = code, trail.first_turn = turn;
  if (turn >= trail.last_turn) trail.last = code, trail.last_turn = turn;
}

/// A number behind a word says how often within the reply.
std::string_view without_number(std::string_view word) {
  const std::size_t equals = word.find('=');
  const bool counts = equals != std::string_view::npos && word.find_first_not_of("0123456789", equals + 1) == word.npos;
  return counts ? word.substr(0, equals) : word;
}

void add_flags(Readings& readings, std::string_view flags) {
  ++readings.replies;
  std::set<std::string_view> words;  // a reply counts once, however many calls it has
  while (!flags.empty()) {
    const std::size_t end = std::min(flags.find(' '), flags.size());
    if (end > 0) words.insert(without_number(flags.substr(0, end)));
    flags.remove_prefix(std::min(end + 1, flags.size()));
  }
  for (const auto word : words) ++readings.words[std::string(word)];
}

/// Collects the facts of one log. `place` gives an episode's place in the population, or nothing when another
/// run's row counts.
class Collector {
 public:
  Collector(const jobs::Run& run, const log::Ledger& ledger,
            std::function<std::optional<std::size_t>(std::size_t)> place, const jobs::Plan& population,
            TurnFacts& facts)
      : run_(run), ledger_(ledger), place_(std::move(place)), population_(population), facts_(facts) {}

  void collect() {
    log::read_turn_summaries(run_.plan, log::log_of(run_), [this](const log::TurnSummary& turn) { see(turn); });
    for (const auto& [episode, turns] : tried_again_) settle(episode, turns);
    for (std::size_t episode = 0; episode < found_.size(); ++episode) {
      const auto& end = ledger_.ends[episode];
      if (end && ledger_.states[episode].counted_attempt > 0 && place_(episode) && found_[episode] < end->turns)
        ++facts_.episodes_lacking_turns;
    }
  }

 private:
  void see(const log::TurnSummary& turn) {
    if (!place_(turn.episode)) return;
    const auto& state = ledger_.states[turn.episode];
    if (state.attempts > 1 || turn.attempt > 1)
      tried_again_[turn.episode].push_back(turn);
    else
      add(turn, state.is_scored() ? log::TurnPart::counted : log::TurnPart::lost);
  }

  // Which attempt's turns count is known when all are.
  void settle(std::size_t episode, const std::vector<log::TurnSummary>& turns) {
    const auto& end = ledger_.ends[episode];
    const auto parts = log::parts_of(turns, ledger_.states[episode].counted_attempt, end ? end->inherited_turns : 0);
    for (std::size_t i = 0; i < turns.size(); ++i) add(turns[i], parts[i]);
  }

  void add(const log::TurnSummary& turn, log::TurnPart part) {
    const auto place = *place_(turn.episode);
    const auto& planned = population_.episodes[place];
    auto& spend = facts_.spend[planned.cell * population_.tasks.size() + planned.task];
    if (part == log::TurnPart::repeated) return;
    if (part == log::TurnPart::lost) {
      spend.uncounted_usd += turn.cost_usd;
      spend.uncounted_tokens += std::uint64_t{turn.tokens_in} + turn.tokens_out;
      return;
    }
    spend.usd += turn.cost_usd;
    spend.llm_s += turn.llm_s;
    spend.tokens_in += turn.tokens_in;
    spend.tokens_out += turn.tokens_out;
    if (!turn.answered) return;
    add_flags(facts_.readings[planned.cell * population_.tasks.size() + planned.task], turn.flags);
    ++found_[turn.episode];
    if (turn.code != Code::none) add_failure(facts_.trails[place], turn.turn, turn.code);
  }

  const jobs::Run& run_;
  const log::Ledger& ledger_;
  std::function<std::optional<std::size_t>(std::size_t)> place_;
  const jobs::Plan& population_;
  TurnFacts& facts_;
  std::vector<std::uint32_t> found_ =
      std::vector<std::uint32_t>(run_.plan.episodes.size());                    ///< counted turns by episode
  std::unordered_map<std::size_t, std::vector<log::TurnSummary>> tried_again_;  ///< by episode
};

TurnFacts empty_facts(const jobs::Plan& plan) {
  return {std::vector<Trail>(plan.episodes.size()), std::vector<Spend>(plan.cells.size() * plan.tasks.size()),
          std::vector<Readings>(plan.cells.size() * plan.tasks.size())};
}

}  // namespace

Spend& Spend::operator+=(const Spend& other) noexcept {
  tokens_in += other.tokens_in;
  tokens_out += other.tokens_out;
  usd += other.usd;
  llm_s += other.llm_s;
  uncounted_tokens += other.uncounted_tokens;
  uncounted_usd += other.uncounted_usd;
  return *this;
}

Readings& Readings::operator+=(const Readings& other) {
  replies += other.replies;
  for (const auto& [word, count] : other.words) words[word] += count;
  return *this;
}

TurnFacts read_turn_facts(const jobs::Run& run, const log::Ledger& ledger) {
  auto facts = empty_facts(run.plan);
  Collector(
      run, ledger, [](std::size_t episode) { return std::optional(episode); }, run.plan, facts)
      .collect();
  return facts;
}

TurnFacts read_turn_facts(const Population& population, std::span<const ReadRun> sources) {
  auto facts = empty_facts(population.run.plan);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const auto place = [&, s](std::size_t episode) -> std::optional<std::size_t> {
      const auto at = population.places[s][episode];
      return population.counted_in[at] == s ? std::optional<std::size_t>(at) : std::nullopt;
    };
    Collector(sources[s].run, sources[s].ledger, place, population.run.plan, facts).collect();
  }
  return facts;
}

}  // namespace nkigrid::aggregate
