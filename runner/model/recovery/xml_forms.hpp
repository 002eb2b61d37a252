#pragma once

#include <string_view>
#include <vector>

#include "runner/model/recovery/text_calls.hpp"

namespace nkigrid::model {

/// `<function=NAME>`, `<parameter=KEY>` ... of Qwen3-Coder ("text_xml"), `<invoke name="NAME">` ... of others
/// ("invoke", "dsml"). A parameter's value is the exact text between its tags, less one leading and one trailing
/// newline, without any unescaping; integers where the tool's schema says integer.
/// @source https://github.com/vllm-project/vllm/issues/22975
TextCalls calls_in_xml(std::string_view text, const std::vector<ToolSpec>& tools);

/// `<tool_call>NAME`, `<arg_key>`, `<arg_value>` of GLM-4.5 ("glm"); values as above.
TextCalls calls_in_arg_tags(std::string_view text, const std::vector<ToolSpec>& tools);

}  // namespace nkigrid::model
