#include "runner/model/recovery/thinking.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace nkigrid::model {
namespace {

struct Element {
  std::string_view open, close;   ///< lower case
  bool may_lack_opening = false;  ///< a chat template may have eaten it
};

/// @source the chat templates and reports of models that think aloud
constexpr std::array<Element, 14> kThoughts = {{{"<think>", "</think>", true},
                                                {"<thinking>", "</thinking>", true},
                                                {"<thought>", "</thought>"},
                                                {"<reasoning>", "</reasoning>"},
                                                {"<seed:think>", "</seed:think>"},
                                                {"<|begin_of_thought|>", "<|end_of_thought|>"},
                                                {"[think]", "[/think]"},
                                                {"◁think▷", "◁/think▷"},
                                                {"<mm:think>", "</mm:think>"},
                                                {"<think:opensource>", "</think:opensource>"},
                                                {"<|channel>thought", "<channel|>"},
                                                {"<|start_thinking|>", "<|end_thinking|>"},
                                                {"<|open|>think<|sep|>", "<|close|>think<|sep|>", true},
                                                {"<|channel|>analysis<|message|>", "<|end|>"}}};

std::string lower_ascii(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

/// The text without what stands between `open` and `close`: of an opening tag that is never closed all that follows, of
/// a closing tag that nothing opened all that comes before. Goes over the text once: a model decides how long it is.
std::string without_element(std::string_view text, const Element& element) {
  constexpr auto kNever = std::string::npos;
  const std::string lower = lower_ascii(text);
  std::size_t at = 0, next_open = lower.find(element.open);
  if (next_open == kNever && !element.may_lack_opening) return std::string(text);
  std::string kept;
  std::size_t next_close = lower.find(element.close);
  while (next_open != kNever || next_close != kNever) {
    if (next_close < next_open) {
      if (element.may_lack_opening) {
        kept.clear();
      } else {
        kept += text.substr(at, next_close + element.close.size() - at);
      }
    } else {
      kept += text.substr(at, next_open - at);
      if (next_close == kNever) return kept;
    }
    at = next_close + element.close.size();
    if (next_open < at) next_open = lower.find(element.open, at);
    next_close = lower.find(element.close, at);
  }
  return kept += text.substr(at);
}

}  // namespace

std::string without_thinking(std::string_view reply) {
  std::string text(reply);
  for (const Element& element : kThoughts) text = without_element(text, element);
  return text;
}

}  // namespace nkigrid::model
