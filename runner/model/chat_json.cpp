#include "runner/model/chat_json.hpp"

#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "jobs/base/text.hpp"
#include "runner/model/json_text.hpp"

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

Json message_json(const Message& message) {
  Json json = {{"role", std::string(kRoles[static_cast<std::size_t>(message.role)])},
               {"content", to_valid_utf8(message.content)}};
  for (const ToolCall& call : message.tool_calls) {
    json["tool_calls"].push_back({{"id", to_valid_utf8(call.id)},
                                  {"name", to_valid_utf8(call.name)},
                                  {"arguments", to_valid_utf8(call.arguments)}});
  }
  if (!message.tool_call_id.empty()) json["tool_call_id"] = to_valid_utf8(message.tool_call_id);
  if (message.is_error) json["is_error"] = true;
  if (!message.opaque.empty()) json["opaque"] = to_valid_utf8(message.opaque);
  return json;
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

std::string to_json(const Message& message) { return message_json(message).dump(); }

std::string to_json(const ChatReply& reply) {
  Json json = {
      {"message", message_json(reply.message)},
      {"finish", std::string(kFinishes[static_cast<std::size_t>(reply.finish)])},
      {"usage", {{"input", reply.usage.input}, {"output", reply.usage.output}, {"cached", reply.usage.cached}}}};
  if (!reply.reasoning.empty()) json["reasoning"] = to_valid_utf8(reply.reasoning);
  if (!reply.system_fingerprint.empty()) json["system_fingerprint"] = to_valid_utf8(reply.system_fingerprint);
  if (reply.mended != 0) json["mended"] = reply.mended;
  if (reply.usage.cache_written != 0) json["usage"]["cache_written"] = reply.usage.cache_written;
  if (reply.usage.estimated) json["usage"]["estimated"] = true;
  if (!reply.left_out.empty()) json["left_out"] = reply.left_out;
  if (reply.trimmed != 0) json["trimmed"] = reply.trimmed;
  if (reply.sent)
    json["sent"] = {
        {"front", reply.sent->front}, {"back", reply.sent->back}, {"text", to_valid_utf8(reply.sent->text)}};
  return json.dump();
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
    reply.trimmed = json.value("trimmed", 0U);
    reply.reasoning = json.value("reasoning", "");
    reply.system_fingerprint = json.value("system_fingerprint", "");
    reply.mended = json.value("mended", 0U);
    return reply;
  });
}

}  // namespace nkigrid::model
