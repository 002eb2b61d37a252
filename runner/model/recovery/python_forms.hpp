#pragma once

#include <string_view>
#include <vector>

#include "runner/model/recovery/text_calls.hpp"

namespace nkigrid::model {

/// A mark, then calls in Python's form, `f(a="...", b=1)` or `f.call(...)`, alone or in a list: Llama ("pythonic").
/// Arguments are literals with their names; anything else is no call.
TextCalls calls_in_python(std::string_view text, const std::vector<ToolSpec>& tools);

}  // namespace nkigrid::model
