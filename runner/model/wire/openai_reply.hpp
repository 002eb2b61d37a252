#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runner/model/chat.hpp"
#include "runner/model/wire/faults.hpp"

namespace nkigrid::model {

/// A reply from the body of a 200. Content may be null, text or parts; arguments text, an object or null; a call may
/// stand in the older field `function_call`, without an id, or with one that another has; the body may be an event
/// stream that nobody asked for. The finish reason is taken as refused when there is a refusal. Lone surrogates become
/// U+FFFD and are counted.
/// @returns nothing where it tells of a failure (read_failure) @throws Error{corrupt} when the body is cut, no JSON, or
/// holds no choice
std::optional<ChatReply> parse_chat_response(std::string_view body);

/// The failure in an answer's body: an error, or a choice that ended in one (finish_reason error or abort).
ErrorBody read_failure(std::string_view body);

}  // namespace nkigrid::model
