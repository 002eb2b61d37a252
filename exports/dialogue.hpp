#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exports/story.hpp"
#include "jobs/run_directory.hpp"
#include "runner/model/chat.hpp"

namespace nkigrid::exports {

/// One message of an episode's conversation, as the model saw it or said it.
struct Utterance {
  model::Message message;
  std::uint32_t turn = 0;  ///< the one that it belongs to, from 1: its reply, or what answers it; 0: the task as posed
};

/// A turn, read: what the model said beside its message.
struct SpokenTurn {
  model::ChatReply reply;
  const log::LoggedTurn* logged = nullptr;  ///< of the story, which outlives the dialogue
};

/// The whole conversation of a story: messages in their order, and what belongs to each turn.
struct Dialogue {
  std::vector<model::ToolSpec> tools;  ///< that every request offered
  std::vector<Utterance> utterances;
  std::vector<SpokenTurn> turns;  ///< [t - 1]: turn t
};

/// Reads a story as the harness read it: calls that a server left in the text are found, calls that the mode does not
/// offer are dropped.
/// @param story outlives the result @throws Error{corrupt} for texts that are no transcript
Dialogue dialogue_of(const jobs::Run& run, const Story& story);

/// True when the turn's own checks let it pass: it gave code, which compiled, and was not found wrong.
bool is_good(const log::LoggedTurn& turn);

/// The turn at which the episode had a kernel that passes: the first that verify_kernel passed and that the final check
/// did not undo, else the one that gave a final kernel that passed. 0: none.
std::uint32_t passing_turn(const Story& story);

/// The turn that gave the final kernel; 0: no turn gave any.
std::uint32_t final_turn(const Story& story);

}  // namespace nkigrid::exports
