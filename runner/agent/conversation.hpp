#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "jobs/base/outcome.hpp"
#include "runner/agent/episode.hpp"
#include "runner/agent/reading.hpp"
#include "runner/device/device.hpp"
#include "runner/log/records.hpp"
#include "runner/model/chat.hpp"

namespace nkigrid::agent {

/// A kernel source that the model submitted.
struct Submission {
  std::string source;
  std::optional<std::string> entry;
  std::uint32_t number = 0;                       ///< k1, k2, ...
  std::optional<device::CompileResult> compiled;  ///< absent after a takeover until it is compiled again
};

/// What an episode has come to: grown turn by turn, or rebuilt from the log. Holds nothing of the machinery.
struct Conversation {
  std::vector<model::Message> messages;  ///< all of them, but for those that were trimmed
  std::uint32_t trimmed = 0;             ///< how many behind the first two are left out
  std::vector<model::Message> pending;   ///< those that no reply record holds yet
  std::uint32_t turns = 0;               ///< done, inherited ones included
  std::uint32_t submissions = 0;
  std::set<std::string> sources;                    ///< that were submitted, hashed
  std::optional<Submission> newest, current, best;  ///< submitted; compiled; passed verify_kernel
  bool nudged = false;
  bool synthetic = false;
  TurnEvent last_event = TurnEvent::no_code;
  EndedBy ended_by = EndedBy::none;
};

/// Notes a source as submitted. @returns true when it was before
bool note_source(Conversation& talk, const std::string& source);

/// Leaves out the oldest exchanges (a reply and what answered it) of a conversation that is too long: one, and more
/// until what follows the first two messages has lost half of its bytes. Those two, the system message and the task,
/// and the newest exchange stay.
/// @returns false when nothing is left to leave out
bool trim(Conversation& talk);

/// Leaves out as much as a logged reply says that was.
void trim_to(Conversation& talk, std::uint32_t trimmed);

/// Reads a reply as the job's mode does, and marks the conversation when the synthetic model said it.
Reading hear(Conversation& talk, const EpisodeJob& job, const model::ChatReply& reply);

/// Enters a turn that is in the log: the reply's message and what answered it.
void enter_turn(Conversation& talk, const Reading& reading, const log::Turn& turn, std::vector<model::Message> answers);

}  // namespace nkigrid::agent
