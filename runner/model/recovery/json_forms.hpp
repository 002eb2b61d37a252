#pragma once

#include <string_view>
#include <vector>

#include "runner/model/recovery/text_calls.hpp"

namespace nkigrid::model {

/// A mark, then JSON: `{"name": ..., "arguments": {...}}`, or a name and its arguments: Hermes, Mistral, Llama,
/// DeepSeek, Kimi, harmony and others ("hermes", ...).
TextCalls calls_in_json(std::string_view text, const std::vector<ToolSpec>& tools);

}  // namespace nkigrid::model
