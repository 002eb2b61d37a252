#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "runner/agent/agent.hpp"
#include "runner/agent/reading.hpp"

namespace nkigrid::agent {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();  ///< a number that nobody measured

/// A kernel source that the model submitted.
struct Submission {
  std::string source;
  std::optional<std::string> entry;
  std::uint32_t number = 0;                       ///< k1, k2, ...
  std::optional<device::CompileResult> compiled;  ///< absent after a takeover until it is compiled again
};

/// Thrown inside the room when the machinery failed: the attempt ends with this outcome.
struct InfraStop {
  Outcome outcome = Outcome::verifier_error;
  std::string reason;
};

/// What this attempt spent; inherited turns are not in it.
struct Spent {
  std::uint64_t tokens_in = 0, tokens_out = 0, tokens_cached = 0;
  double cost_usd = 0;
  std::uint32_t api_retries = 0;
};

/// One attempt of one episode, between its begin and its end.
struct Session {
  const EpisodeJob& job;
  model::ChatModel& model;
  device::Device& device;
  const std::function<void(const log::Record&)>& append;
  const Clock& clock;

  std::vector<model::Message> messages;  ///< the whole conversation
  std::vector<model::Message> pending;   ///< its part that no reply record holds yet
  std::uint32_t turns = 0;               ///< done, inherited ones included
  std::uint32_t submissions = 0;
  std::optional<Submission> newest, current, best;  ///< submitted; compiled; passed verify_kernel
  bool nudged = false;
  bool synthetic = false;
  TurnEvent last_event = TurnEvent::no_code;
  EndedBy ended_by = EndedBy::none;
  Spent spent;
};

/// A compile of `submission`, timed and written into `turn`. @throws InfraStop
void compile_submission(Session& session, Submission& submission, log::Turn& turn);

/// The reason and outcome of an INFRA diagnostic.
InfraStop infra_stop(const device::Device& device, const device::Diagnostic& diagnostic);

/// Works through one reply: runs its calls or its code, answers, appends the turn, and sets `ended_by`.
/// The reply must be durable already. @throws InfraStop, Error{io}
void play_turn(Session& session, const Reading& reading);

/// Enters a finished turn of an earlier attempt, without a device. @throws Error{corrupt}
void absorb_turn(Session& session, const log::LoggedTurn& logged);

/// Rebuilds the conversation from the job's history. @returns the reply whose tools have not answered, if there is one
/// @throws Error{corrupt} when it cannot be rebuilt; the session is then half filled
std::optional<log::Reply> rebuild(Session& session);

/// The final check: outcome, verdicts and diagnostics of the final and the best kernel, into `end`. @throws InfraStop
void judge(Session& session, log::End& end);

}  // namespace nkigrid::agent
