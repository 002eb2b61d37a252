#pragma once

#include <string_view>
#include <vector>

#include "runner/model/recovery/text_calls.hpp"

namespace nkigrid::model {

/// A mark, then calls in Python's form, `f(a="...", b=1)` or `f.call(...)`, alone, in a list or printed: Llama, Gemma 3
/// and others ("pythonic"). Arguments are literals with their names; anything else is no call. Without a mark where
/// there is nothing else in the text.
TextCalls calls_in_python(std::string_view text, const std::vector<ToolSpec>& tools);

/// `call:f{a:<|"|>...<|"|>,b:1}` of Gemma 4, `call:f{a:<escape>...<escape>}` of FunctionGemma ("gemma").
TextCalls calls_in_braces(std::string_view text, const std::vector<ToolSpec>& tools);

}  // namespace nkigrid::model
