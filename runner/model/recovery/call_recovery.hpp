#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "runner/model/chat.hpp"

namespace nkigrid::model {

struct Recovered {
  std::size_t calls = 0;
  std::string_view form;  ///< "text_xml", "hermes", ...; "": none
};

/// Moves tool calls that a server left in the text into `tool_calls`; the text keeps what stood before the first one,
/// less the thoughts (thinking.hpp), in which no call is one. Does nothing when the message has tool calls already, or
/// none of the named functions is one of `tools`.
/// @param is_code says of the text before a call whether that stands in a block of code; none: it does not
Recovered recover_text_calls(Message& message, const std::vector<ToolSpec>& tools,
                             const std::function<bool(std::string_view)>& is_code = {});

/// Moves the call that a model's thoughts end with into a message that says nothing else: the server's parser of
/// thoughts took it for one. One call alone, and nothing behind it: what else thoughts hold are plans.
/// @param thoughts as the server sent them; "": those in the message's text
Recovered recover_thought_call(Message& message, std::string_view thoughts, const std::vector<ToolSpec>& tools);

}  // namespace nkigrid::model
