#pragma once

#include <string>
#include <string_view>

#include "runner/model/chat.hpp"

namespace nkigrid::model {

/// JSON of a message or a reply, and back; the form of journals and transcripts (docs/formats/transcript.md). Never
/// emits a lone surrogate; NUL survives. @throws Error{corrupt} when text is not such JSON.
std::string to_json(const Message& message);
std::string to_json(const ChatReply& reply);  ///< without `raw` and times
Message parse_message(std::string_view json);
ChatReply parse_reply(std::string_view json);

/// Puts a reply's thoughts into its message, as its server wants them back with calls; for those that were found in its
/// text.
void give_thoughts_back(Message& message, const ChatReply& reply);

}  // namespace nkigrid::model
