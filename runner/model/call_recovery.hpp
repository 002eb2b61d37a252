#pragma once

#include <string_view>
#include <vector>

#include "runner/model/chat.hpp"

namespace nkigrid::model {

/// Moves tool calls that a server left in the text as Qwen3-Coder XML (`<function=NAME>`, `<parameter=KEY>` ...) into
/// `tool_calls`; the text keeps what stood before the first one. A parameter's value is the exact text between its
/// tags, less one leading and one trailing newline, without any unescaping; integers where the tool's schema says
/// integer.
///
/// Does nothing when the message has tool calls already, or none of the named functions is one of `tools`.
/// @returns how many calls were recovered
/// @source https://github.com/vllm-project/vllm/issues/22975
std::size_t recover_text_calls(Message& message, const std::vector<ToolSpec>& tools);

}  // namespace nkigrid::model
