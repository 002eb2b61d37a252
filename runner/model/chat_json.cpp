#include "runner/model/chat_json.hpp"

#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "jobs/base/text.hpp"
#include "runner/model/json_text.hpp"
#include "runner/model/json_writer.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 4> kRoles = {"system", "user", "assistant", "tool"};
constexpr std::array<std::string_view, 4> kFinishes = {"stop", "length", "tool_calls", "refused"};

template <class Enum, std::size_t N>
Enum word(const std::array<std::string_view, N>& words, const std::string& text, std::string_view what) {
  for (std::size_t i = 0; i < N; ++i) {
    if (words[i] == text) return static_cast<Enum>(i);
  }
  throw Error(ErrorCode::corrupt, fmt::format("unknown {} '{}' in a transcript", what, text));
}

/// Keys stand in the alphabet's order, which logs have always had.
void append_message(std::string& out, const Message& message) {
  JsonObject json(out);
  json.text("content", message.content);
  if (message.is_error) json.raw("is_error", "true");
  if (!message.opaque.empty()) json.text("opaque", message.opaque);
  json.text("role", kRoles[static_cast<std::size_t>(message.role)]);
  if (!message.tool_call_id.empty()) json.text("tool_call_id", message.tool_call_id);
  if (!message.tool_calls.empty()) {
    json.begin("tool_calls");
    for (const ToolCall& call : message.tool_calls) {
      out += &call == &message.tool_calls.front() ? '[' : ',';
      JsonObject(out).text("arguments", call.arguments).text("id", call.id).text("name", call.name).end();
    }
    out += ']';
  }
  json.end();
}

void append_usage(std::string& out, const Usage& usage) {
  JsonObject json(out);
  if (usage.cache_written != 0) json.number("cache_written", usage.cache_written);
  json.number("cached", usage.cached);
  if (usage.estimated) json.raw("estimated", "true");
  json.number("input", usage.input).number("output", usage.output).end();
}

Message message_of(const Json& json) {
  Message message;
  message.role = word<Role>(kRoles, json.at("role").get<std::string>(), "role");
  message.content = json.at("content").get<std::string>();
  for (const Json& call : json.value("tool_calls", Json::array())) {
    message.tool_calls.push_back({call.at("id").get<std::string>(), call.at("name").get<std::string>(),
                                  call.at("arguments").get<std::string>()});
  }
  message.tool_call_id = json.value("tool_call_id", "");
  message.is_error = json.value("is_error", false);
  message.opaque = json.value("opaque", "");
  return message;
}

/// Runs `read` on the parsed text; every library error becomes Error{corrupt}.
template <class Read>
auto parse_with(std::string_view text, std::string_view what, Read read) {
  try {
    return read(parse_json(mend_json(text).text));
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::corrupt, fmt::format("damaged {} in a transcript ({})", what, error.what()));
  }
}

}  // namespace

std::string to_json(const Message& message) {
  std::string text;
  append_message(text, message);
  return text;
}

std::string to_json(const ChatReply& reply) {
  std::string text;
  JsonObject json(text);
  json.text("finish", kFinishes[static_cast<std::size_t>(reply.finish)]);
  if (!reply.left_out.empty()) json.text("left_out", reply.left_out);
  if (reply.mended != 0) json.number("mended", reply.mended);
  json.begin("message");
  append_message(text, reply.message);
  if (!reply.reasoning.empty()) json.text("reasoning", reply.reasoning);
  if (!reply.request_id.empty()) json.text("request_id", reply.request_id);
  if (reply.sent) {
    json.begin("sent");
    JsonObject(text)
        .number("back", reply.sent->back)
        .number("front", reply.sent->front)
        .text("text", reply.sent->text)
        .end();
  }
  if (!reply.system_fingerprint.empty()) json.text("system_fingerprint", reply.system_fingerprint);
  if (!reply.thoughts_key.empty() && reply.message.tool_calls.empty()) json.text("thoughts_key", reply.thoughts_key);
  if (reply.trimmed != 0) json.number("trimmed", reply.trimmed);
  json.begin("usage");
  append_usage(text, reply.usage);
  json.end();
  return text;
}

void give_thoughts_back(Message& message, const ChatReply& reply) {
  if (!reply.thoughts_key.empty()) message.opaque = Json{{reply.thoughts_key, to_valid_utf8(reply.reasoning)}}.dump();
}

Message parse_message(std::string_view text) { return parse_with(text, "message", message_of); }

ChatReply parse_reply(std::string_view text) {
  return parse_with(text, "reply", [](const Json& json) {
    ChatReply reply;
    reply.message = message_of(json.at("message"));
    reply.finish = word<Finish>(kFinishes, json.at("finish").get<std::string>(), "finish");
    const Json& usage = json.at("usage");
    reply.usage = {usage.at("input").get<std::uint32_t>(), usage.at("output").get<std::uint32_t>(),
                   usage.at("cached").get<std::uint32_t>(), usage.value("cache_written", 0U),
                   usage.value("estimated", false)};
    if (const auto sent = json.find("sent"); sent != json.end()) {
      reply.sent = Sent{sent->at("front").get<std::size_t>(), sent->at("back").get<std::size_t>(),
                        sent->at("text").get<std::string>()};
    }
    reply.left_out = json.value("left_out", "");
    reply.request_id = json.value("request_id", "");
    reply.trimmed = json.value("trimmed", 0U);
    reply.reasoning = json.value("reasoning", "");
    reply.thoughts_key = json.value("thoughts_key", "");
    reply.system_fingerprint = json.value("system_fingerprint", "");
    reply.mended = json.value("mended", 0U);
    return reply;
  });
}

}  // namespace nkigrid::model
