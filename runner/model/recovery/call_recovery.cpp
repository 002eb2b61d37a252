#include "runner/model/recovery/call_recovery.hpp"

#include <algorithm>
#include <array>

#include "runner/model/recovery/json_forms.hpp"
#include "runner/model/recovery/marks.hpp"
#include "runner/model/recovery/python_forms.hpp"
#include "runner/model/recovery/thinking.hpp"
#include "runner/model/recovery/xml_forms.hpp"

namespace nkigrid::model {
namespace {

/// The text before a call, less the tags that lead it in.
std::string_view before_calls(std::string_view text) {
  constexpr std::array<std::string_view, 3> kHarmony = {"<|channel|>commentary", "<|channel|>analysis",
                                                        "<|start|>assistant"};
  for (bool found = true; found;) {
    text = text.substr(0, lead_before(text, text.size()).begin);
    const auto lead = std::find_if(kHarmony.begin(), kHarmony.end(), [&](auto tag) { return text.ends_with(tag); });
    found = lead != kHarmony.end();
    if (found) text.remove_suffix(lead->size());
  }
  return text;
}

void number(std::vector<ToolCall>& calls) {
  for (std::size_t i = 0; i < calls.size(); ++i) calls[i].id = made_call_id(i + 1);
}

constexpr std::array kFinders = {calls_in_xml,  calls_in_arg_tags, calls_in_braces,
                                 calls_in_json, calls_in_python,   calls_alone};

}  // namespace

Recovered recover_text_calls(Message& message, const std::vector<ToolSpec>& tools,
                             const std::function<bool(std::string_view)>& is_code) {
  if (!message.tool_calls.empty()) return {};
  const std::string said = without_thinking(message.content);
  for (const auto find : kFinders) {
    TextCalls found = find(said, tools);
    const auto before = std::string_view(said).substr(0, std::min(found.begin, said.size()));
    if (found.calls.empty() || (is_code && is_code(before))) continue;
    number(found.calls);
    message.content = std::string(before_calls(before));
    message.tool_calls = std::move(found.calls);
    return {message.tool_calls.size(), found.form};
  }
  return {};
}

Recovered recover_thought_call(Message& message, std::string_view thoughts, const std::vector<ToolSpec>& tools) {
  const auto is_blank = [](std::string_view text) {
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
  };
  if (!message.tool_calls.empty() || !is_blank(without_thinking(message.content))) return {};
  if (is_blank(thoughts)) thoughts = message.content;
  for (const auto find : kFinders) {
    TextCalls found = find(thoughts, tools);
    if (found.calls.empty()) continue;
    if (found.calls.size() > 1 || !is_trailer(thoughts.substr(std::min(found.end, thoughts.size())))) return {};
    number(found.calls);
    message.content.clear();
    message.tool_calls = std::move(found.calls);
    return {1, found.form};
  }
  return {};
}

}  // namespace nkigrid::model
