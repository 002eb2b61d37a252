#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <variant>

#include "jobs/base/ids.hpp"
#include "jobs/base/outcome.hpp"

namespace nkigrid::log {

/// Not measured, or no such thing: NaN for numbers, -1 for int8 flags, 0 for lines.
inline constexpr std::int8_t kNotDone = -1;
inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

/// What a file of the log says of itself: HDF5 attributes, and the journal's first frame.
struct LogHeader {
  std::string grid_hash, run_id, nkigrid_version, sdk, backend, compiler, host;  ///< host "": it judges no kernel
  std::string journal = {};  ///< the journal's own name, whatever its file is called; "": written before version 1.1
};

/// Who writes, and of what. Every record carries it; (episode, attempt) fences zombies.
struct AttemptId {
  EpisodeId episode;
  std::string key;            ///< 16 hex digits of (cell, task)
  std::uint32_t attempt = 1;  ///< from 1; every takeover begins another
  auto operator<=>(const AttemptId&) const = default;
};

/// Begin of an attempt; durable before its first request.
struct Begin {
  AttemptId id;
  std::uint32_t inherited_turns = 0;  ///< durable turns of earlier attempts that this one continues from
  std::string node;                   ///< SLURMD_NODENAME, else host name
  std::uint32_t rank = 0;
  double started = 0;  ///< Unix time [s]
};

/// A model's reply; durable before any tool runs, so that no reply is paid for twice.
struct Reply {
  AttemptId id;
  std::uint32_t turn = 1;  ///< from 1
  std::string request;     ///< the messages added since the last turn, JSON lines (docs/formats/transcript.md)
  std::string reply;       ///< the reply, canonical JSON (model::to_json), from which parsing is repeatable
  std::string raw;         ///< the response's bytes as received, or "" where there is no wire
  double llm_s = 0;        ///< time the request took, waits excluded
  double wait_s = 0;       ///< time waited for retries and permits
  std::uint32_t tokens_in = 0, tokens_out = 0, tokens_cached = 0;
  std::uint32_t api_retries = 0;
  double cost_usd = 0;
};

/// A finished turn: the reply (named by turn number) and what the tools answered.
struct Turn {
  AttemptId id;
  std::uint32_t turn = 1;
  TurnEvent event = TurnEvent::ok;
  bool nudged = false;  ///< the harness answered with the nudge
  std::string flags;    ///< space separated: args_peeled call_recovered=... extract=...
  std::uint32_t tool_calls = 0;
  std::int8_t compile_ok = kNotDone;  ///< last compile of the turn
  std::int8_t verify_ok = kNotDone;   ///< last verify of the turn
  Stage stage = Stage::none;          ///< of the last check of the turn that failed, with code and line
  Code code = Code::none;
  std::uint32_t line = 0;
  double compile_s = 0, verify_s = 0;
  double max_abs_err = kNotMeasured, rel_l2 = kNotMeasured;  ///< of the last verify
  double estimate_us = kNotMeasured;                         ///< of the last compile that passed
  std::string kernel;                                        ///< newest source submitted in this turn, or ""
  std::string tool_output;                                   ///< messages the harness answered with, JSON lines
};

/// End of an attempt: one row of /episodes.
struct End {
  AttemptId id;
  std::string level, category;
  std::uint32_t inherited_turns = 0;
  Outcome outcome = Outcome::killed;
  EndedBy ended_by = EndedBy::none;
  std::string reason;  ///< why, for infrastructure outcomes, and of a full context the server's words; no column
  bool nudged = false;
  std::int8_t passed = 0, strict_passed = 0, best_passed = 0, best_strict_passed = 0;
  Stage stage = Stage::none;  ///< of the final kernel's check
  Code code = Code::none;
  std::uint32_t line = 0;
  std::string findings;                         ///< of that check, JSON (docs/formats/segment.md), or ""
  std::uint32_t trials = 0, trials_passed = 0;  ///< of that check; 0: nothing was executed
  double max_abs_err = kNotMeasured, rel_l2 = kNotMeasured;
  std::uint32_t turns = 0;  ///< inherited ones included
  double started = 0, seconds = 0;
  std::uint64_t tokens_in = 0, tokens_out = 0, tokens_cached = 0;  ///< this attempt's
  double cost_usd = 0;
  std::uint32_t api_retries = 0;
  double estimate_us = kNotMeasured;
  std::string node;
  std::uint32_t rank = 0;
  bool synthetic = false;  ///< some reply carried system_fingerprint nkigrid-synthetic
};

using Record = std::variant<Begin, Reply, Turn, End>;

const AttemptId& attempt_of(const Record& record) noexcept;

}  // namespace nkigrid::log
