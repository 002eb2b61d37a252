#include "runner/agent/reading.hpp"

#include <fmt/format.h>

#include "runner/agent/extract.hpp"
#include "runner/agent/fences.hpp"
#include "runner/agent/tools.hpp"
#include "runner/model/chat_json.hpp"
#include "runner/model/recovery/call_recovery.hpp"

namespace nkigrid::agent {

namespace {

/// True where what follows stands in a block of Python that holds the reply's code: a word in a comment is no call.
bool ends_in_code(std::string_view before, bool reply_has_code) {
  if (!reply_has_code) return false;
  const auto fences = fences_of(before);
  return !fences.empty() && !fences.back().closed && is_python_tag(fences.back().tag);
}

/// A reply that is nothing but thoughts which end with a call: of those the server took the call for one.
void take_call_out_of_thoughts(const model::ChatReply& reply, const std::vector<model::ToolSpec>& tools,
                               Reading& reading) {
  const auto recovered = model::recover_thought_call(reading.message, reply.reasoning, tools);
  if (recovered.calls == 0) return;
  reading.flags.push_back(fmt::format("call_recovered={}", recovered.form));
  reading.flags.emplace_back("call_in_thoughts=1");
}

void mend_names(const std::vector<model::ToolSpec>& tools, Reading& reading) {
  bool mended = false;
  for (auto& call : reading.message.tool_calls) {
    auto name = meant_name(call.name, tools);
    mended = mended || name != call.name;
    call.name = std::move(name);
  }
  if (mended) reading.flags.emplace_back("name_mended=1");
}

}  // namespace

Reading read_reply(const model::ChatReply& reply, const std::vector<model::ToolSpec>& tools, bool call_recovery) {
  Reading reading;
  reading.message = reply.message;
  reading.truncated = reply.finish == model::Finish::length;
  reading.refused = reply.finish == model::Finish::refused;
  if (reply.mended != 0) reading.flags.push_back(fmt::format("mended={}", reply.mended));
  if (reply.usage.estimated) reading.flags.emplace_back("usage=missing");
  if (reply.trimmed != 0) reading.flags.emplace_back("trimmed=1");
  if (!reply.left_out.empty()) reading.flags.push_back(fmt::format("left_out={}", reply.left_out));
  if (tools.empty()) {
    reading.message.tool_calls.clear();
  } else if (call_recovery) {
    const bool has_code = extract_code(reading.message.content, reading.truncated).has_value();
    const auto recovered = model::recover_text_calls(
        reading.message, tools, [&](std::string_view before) { return ends_in_code(before, has_code); });
    if (recovered.calls > 0) {
      reading.flags.push_back(fmt::format("call_recovered={}", recovered.form));
      if (reading.message.opaque.empty()) model::give_thoughts_back(reading.message, reply);
    }
    if (!reading.truncated && !reading.refused) take_call_out_of_thoughts(reply, tools, reading);
  }
  mend_names(tools, reading);
  if (reading.has_calls() || reading.refused) return reading;
  if (auto found = extract_code(reading.message.content, reading.truncated)) {
    reading.flags.push_back(fmt::format("extract={}", found->how));
    reading.code = std::move(found->code);
  }
  return reading;
}

TurnEvent event_of(const Reading& reading) {
  if (reading.refused) return TurnEvent::refused;
  if (reading.truncated) return TurnEvent::truncated;
  return reading.has_calls() || reading.code ? TurnEvent::ok : TurnEvent::no_code;
}

std::string to_lines(const std::vector<model::Message>& messages) {
  std::string lines;
  for (const model::Message& message : messages) lines += model::to_json(message) + '\n';
  return lines;
}

std::vector<model::Message> parse_lines(std::string_view lines) {
  std::vector<model::Message> messages;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end);
    if (!line.empty()) messages.push_back(model::parse_message(line));
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
  }
  return messages;
}

}  // namespace nkigrid::agent
