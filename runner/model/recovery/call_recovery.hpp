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

}  // namespace nkigrid::model
