#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "aggregate/evidence/population.hpp"
#include "jobs/base/outcome.hpp"
#include "runner/log/ledger.hpp"

namespace nkigrid::aggregate {

/// What the counted conversation of one episode ran into: the codes of its first and last turn that failed.
struct Trail {
  Code first = Code::none, last = Code::none;  ///< none: no turn failed, or the log has no turn of it
  std::uint32_t first_turn = 0, last_turn = 0;
};

/// What replies cost. A reply counts when the counted attempt made or inherited it.
struct Spend {
  std::uint64_t tokens_in = 0, tokens_out = 0;  ///< of counted replies
  double usd = 0, llm_s = 0;                    ///< llm_s: request times, waits for permits and retries excluded
  std::uint64_t uncounted_tokens = 0;  ///< in and out, of attempts that died or failed, and of outstanding episodes
  double uncounted_usd = 0;

  Spend& operator+=(const Spend& other) noexcept;
};

/// How replies were read. A reply counts when the counted attempt made or inherited it.
struct Readings {
  std::uint64_t replies = 0;                   ///< that were answered
  std::map<std::string, std::uint64_t> words;  ///< flags of turns, numbers left out ("mended=3": "mended") -> replies

  Readings& operator+=(const Readings& other);
};

/// What only the turns of a log tell.
struct TurnFacts {
  std::vector<Trail> trails;       ///< parallel to plan.episodes
  std::vector<Spend> spend;        ///< cells x tasks, row-major
  std::vector<Readings> readings;  ///< the same
  std::uint64_t episodes_lacking_turns =
      0;  ///< counted ones of whose turns damage took some: their trails and spend are not whole
};

/// Streams the turns of a run's log, without their texts. Memory: a few bytes an episode, and the turns of those that
/// were tried more than once.
/// @throws Error{io, corrupt} as read_turn_summaries()
TurnFacts read_turn_facts(const jobs::Run& run, const log::Ledger& ledger);

/// The same over all logs of a population; an episode's facts are those of the run whose row counts.
TurnFacts read_turn_facts(const Population& population, std::span<const ReadRun> sources);

}  // namespace nkigrid::aggregate
