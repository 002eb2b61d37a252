#pragma once

#include <cstddef>
#include <string_view>

namespace nkigrid::model {

/// What stands before a call and leads it in: tags of a chat template, an opening fence, brackets of a list, a label.
struct Lead {
  std::size_t begin = 0;   ///< where it begins
  bool says_call = false;  ///< it says that a call follows: `<longcat_tool_call>`, "```tool_code", "**Tool Call:**"
};

/// Reads backwards from `at`. A tag that says so is short, opens (`</tool_call>` and `<|tool_call_end|>` do not) and
/// speaks of a tool, a function, an action or a call, and of no answer of one (`<tool_response>`); a label is a line of
/// nothing else ("Action:"): prose is none.
/// @source what the tool parsers of vLLM and SGLang look for
Lead lead_before(std::string_view text, std::size_t at);

/// True where nothing but closing tags, marks of a chat template and fences stands behind a call.
bool is_trailer(std::string_view text);

}  // namespace nkigrid::model
