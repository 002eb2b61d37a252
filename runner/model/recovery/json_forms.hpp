#pragma once

#include <string_view>
#include <vector>

#include "runner/model/recovery/text_calls.hpp"

namespace nkigrid::model {

/// A mark, then JSON: `{"name": ..., "arguments": {...}}`, or a name and its arguments: Hermes, Mistral, Llama,
/// DeepSeek, Kimi, harmony and others ("hermes", ...; "tagged": of no template that is known here, marks.hpp).
TextCalls calls_in_json(std::string_view text, const std::vector<ToolSpec>& tools);

/// JSON that is all that the text holds, in a fence or not, and names its tool and its arguments ("alone"): what Llama
/// 3.1 and others are taught to write, without any mark. Beside other words it is an example as well as a call.
TextCalls calls_alone(std::string_view text, const std::vector<ToolSpec>& tools);

}  // namespace nkigrid::model
