#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/grid/grid.hpp"
#include "runner/log/records.hpp"
#include "runner/model/chat.hpp"

namespace nkigrid::agent {

/// What a reply says, as a pure function of the logged reply: the same live and when a conversation is rebuilt.
struct Reading {
  model::Message message;  ///< as it enters the conversation: recovered calls in, calls that no mode offers out
  std::optional<std::string> code;  ///< of a reply without a call
  bool truncated = false;
  bool refused = false;
  std::vector<std::string> flags;

  bool has_calls() const noexcept { return !message.tool_calls.empty(); }
};

Reading read_reply(const model::ChatReply& reply, const jobs::ModeSpec& mode, bool call_recovery);

/// How the loop ends after a turn; `none` when it goes on. Pure, so that a taken-over episode ends where it would have.
/// @param nudged_before an earlier turn was answered with the nudge
EndedBy ends_after(const jobs::ModeSpec& mode, const Reading& reading, const log::Turn& turn, bool nudged_before);

/// Messages as JSON lines and back (docs/formats/transcript.md). @throws Error{corrupt}
std::string to_lines(const std::vector<model::Message>& messages);
std::vector<model::Message> parse_lines(std::string_view lines);

}  // namespace nkigrid::agent
