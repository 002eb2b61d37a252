#pragma once

#include <string>
#include <string_view>

#include "jobs/grid/grid.hpp"
#include "runner/model/chat.hpp"
#include "runner/model/wire/wire.hpp"

namespace nkigrid::model {

/// Body of POST /chat/completions. Arguments of past calls that are no JSON object are sent as `{"_invalid":
/// "<text>"}`, because some servers parse the history and would answer 400 for ever.
/// Ids of calls that came twice are made unique; thoughts go back with the calls that came out of them.
/// @param model of api openai
std::string chat_request_body(const ChatRequest& request, const jobs::ModelSpec& model, const Dialect& dialect = {});

}  // namespace nkigrid::model
