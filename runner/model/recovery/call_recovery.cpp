#include "runner/model/recovery/call_recovery.hpp"

#include <algorithm>
#include <array>

#include "runner/model/recovery/json_forms.hpp"
#include "runner/model/recovery/python_forms.hpp"
#include "runner/model/recovery/thinking.hpp"
#include "runner/model/recovery/xml_forms.hpp"

namespace nkigrid::model {
namespace {

/// The text before a call, less the tags that lead it in.
std::string_view before_calls(std::string_view text) {
  constexpr std::array<std::string_view, 14> kLeads = {"<tool_call>",
                                                       "<｜tool▁calls▁begin｜>",
                                                       "<|tool_calls_section_begin|>",
                                                       "<|tool_calls_begin|>",
                                                       "<seed:tool_call>",
                                                       "<minimax:tool_call>",
                                                       "<function_calls>",
                                                       "<｜DSML｜function_calls>",
                                                       "<|action_start|>",
                                                       "<|channel|>commentary",
                                                       "<|channel|>analysis",
                                                       "<|start|>assistant",
                                                       "```json",
                                                       "```xml"};
  for (bool found = true; found;) {
    text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
    const auto lead = std::find_if(kLeads.begin(), kLeads.end(), [&](auto tag) { return text.ends_with(tag); });
    found = lead != kLeads.end();
    if (found) text.remove_suffix(lead->size());
  }
  return text;
}

}  // namespace

Recovered recover_text_calls(Message& message, const std::vector<ToolSpec>& tools,
                             const std::function<bool(std::string_view)>& is_code) {
  if (!message.tool_calls.empty()) return {};
  const std::string said = without_thinking(message.content);
  for (const auto find : {calls_in_xml, calls_in_arg_tags, calls_in_json, calls_in_python}) {
    TextCalls found = find(said, tools);
    const auto before = std::string_view(said).substr(0, std::min(found.begin, said.size()));
    if (found.calls.empty() || (is_code && is_code(before))) continue;
    for (ToolCall& call : found.calls) call.id = made_call_id(static_cast<std::size_t>(&call - found.calls.data()) + 1);
    message.content = std::string(before_calls(before));
    message.tool_calls = std::move(found.calls);
    return {message.tool_calls.size(), found.form};
  }
  return {};
}

}  // namespace nkigrid::model
