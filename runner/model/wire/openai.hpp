#pragma once

#include <string>
#include <string_view>

#include "jobs/grid/grid.hpp"
#include "runner/model/chat.hpp"

namespace nkigrid::model {

/// Body of POST /chat/completions. Arguments of past calls that are no JSON object are sent as `{"_invalid":
/// "<text>"}`, because some servers parse the history and would answer 400 for ever.
/// @param model of api openai
std::string chat_request_body(const ChatRequest& request, const jobs::ModelSpec& model);

/// A reply from the body of a 200. Content may be null, text or parts; arguments text or an object; the finish reason
/// is taken as refused when there is a refusal. Lone surrogates become U+FFFD and are counted.
/// @throws Error{corrupt} when the body is cut, no JSON, or holds no choice
ChatReply parse_chat_response(std::string_view body);

}  // namespace nkigrid::model
