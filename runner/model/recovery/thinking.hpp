#pragma once

#include <string>
#include <string_view>

namespace nkigrid::model {

/// The text without a model's thoughts: `<think>`, `<thinking>`, `<thought>`, `<reasoning>` (in any case), `[THINK]`,
/// `◁think▷`, `<seed:think>`, `<mm:think>`, `<think:opensource>`, `<|begin_of_thought|>`, `<|channel>thought`,
/// `<|START_THINKING|>`, `<|open|>think<|sep|>`, harmony's analysis. An unclosed one takes everything after it; of
/// those whose opening tag a chat template may have eaten a closing tag without an opening one takes everything before
/// it.
std::string without_thinking(std::string_view reply);

}  // namespace nkigrid::model
