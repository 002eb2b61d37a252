#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "jobs/base/outcome.hpp"
#include "jobs/plan.hpp"
#include "runner/log/records.hpp"
#include "runner/log/run_log.hpp"

namespace nkigrid::log {

/// What tables need of a turn.
struct TurnSummary {
  std::uint32_t episode = 0;  ///< index into plan.episodes
  std::uint32_t attempt = 1, turn = 1;
  bool answered =
      false;  ///< false: of a reply whose tools never answered; then code, compile_ok and verify_ok say nothing
  Code code = Code::none;
  std::int8_t compile_ok = kNotDone, verify_ok = kNotDone;
  std::uint32_t tokens_in = 0, tokens_out = 0;  ///< 0, like what follows, where the reply was lost
  double cost_usd = 0, llm_s = 0;
  std::string flags;  ///< how the reply was read (docs/formats/transcript.md)
};

/// Streams the turns of all attempts of planned episodes, sealed and unsealed alike, each once, in no particular order.
/// Reads these columns alone, part by part: memory grows with the attempts, not with the turns. Turns of other keys are
/// passed over.
/// @throws Error{io, corrupt} as read_log()
void read_turn_summaries(const jobs::Plan& plan, const RunLog& log,
                         const std::function<void(const TurnSummary&)>& visit);

}  // namespace nkigrid::log
