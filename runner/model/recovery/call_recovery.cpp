#include "runner/model/recovery/call_recovery.hpp"

#include <array>

#include "runner/model/recovery/json_forms.hpp"
#include "runner/model/recovery/xml_forms.hpp"

namespace nkigrid::model {
namespace {

/// The text before a call, less the tags that lead it in.
std::string_view before_calls(std::string_view text) {
  constexpr std::array<std::string_view, 3> kLeads = {"<tool_call>", "<｜tool▁calls▁begin｜>",
                                                      "<|tool_calls_section_begin|>"};
  const auto strip = [&] { text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1); };
  strip();
  for (const std::string_view tag : kLeads) {
    if (text.ends_with(tag)) text.remove_suffix(tag.size());
    strip();
  }
  return text;
}

}  // namespace

Recovered recover_text_calls(Message& message, const std::vector<ToolSpec>& tools) {
  if (!message.tool_calls.empty()) return {};
  for (const auto find : {calls_in_xml, calls_in_arg_tags, calls_in_json}) {
    TextCalls found = find(message.content, tools);
    if (found.calls.empty()) continue;
    for (ToolCall& call : found.calls) call.id = made_call_id(static_cast<std::size_t>(&call - found.calls.data()) + 1);
    message.content = std::string(before_calls(std::string_view(message.content).substr(0, found.begin)));
    message.tool_calls = std::move(found.calls);
    return {message.tool_calls.size(), found.form};
  }
  return {};
}

}  // namespace nkigrid::model
