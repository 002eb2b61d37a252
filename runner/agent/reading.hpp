#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/base/outcome.hpp"
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

/// @param tools what the mode offers; without any, calls are dropped
/// @param call_recovery looks for calls that a server left in the text, too
Reading read_reply(const model::ChatReply& reply, const std::vector<model::ToolSpec>& tools, bool call_recovery);

/// What a turn is, as far as its reply alone tells.
TurnEvent event_of(const Reading& reading);

/// Messages as JSON lines and back (docs/formats/transcript.md). @throws Error{corrupt}
std::string to_lines(const std::vector<model::Message>& messages);
std::vector<model::Message> parse_lines(std::string_view lines);

}  // namespace nkigrid::agent
