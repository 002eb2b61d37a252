#include "runner/model/wire/openai.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "jobs/base/text.hpp"
#include "runner/model/json_text.hpp"
#include "runner/model/wire/faults.hpp"
#include "runner/model/wire/wire.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

std::string_view role_name(Role role) {
  switch (role) {
    case Role::system:
      return "system";
    case Role::user:
      return "user";
    case Role::assistant:
      return "assistant";
    case Role::tool:
      return "tool";
  }
  return "user";
}

std::string sendable_arguments(const std::string& arguments) {
  const std::string text = to_valid_utf8(arguments);
  const Json parsed = Json::parse(text, nullptr, false);
  return parsed.is_object() ? text : Json{{"_invalid", text}}.dump();
}

Json message_body(const Message& message) {
  Json body = {{"role", role_name(message.role)}, {"content", to_valid_utf8(message.content)}};
  for (const ToolCall& call : message.tool_calls) {
    body["tool_calls"].push_back(
        {{"id", to_valid_utf8(call.id)},
         {"type", "function"},
         {"function", {{"name", to_valid_utf8(call.name)}, {"arguments", sendable_arguments(call.arguments)}}}});
  }
  if (!message.tool_calls.empty() && message.content.empty()) body["content"] = nullptr;
  if (message.role == Role::tool) body["tool_call_id"] = to_valid_utf8(message.tool_call_id);
  return body;
}

/// Content as text: null, a string, or a list of parts of which the text ones count.
std::string content_text(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  if (!content.is_array()) return text;
  for (const Json& part : content) {
    if (part.is_object() && part.contains("text") && part["text"].is_string()) text += part["text"].get<std::string>();
  }
  return text;
}

std::string text_or_empty(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

std::uint32_t count_or_zero(const Json& object, const char* key) {
  if (!object.is_object()) return 0;
  const auto it = object.find(key);
  return it != object.end() && it->is_number_unsigned() ? it->get<std::uint32_t>() : 0;
}

std::vector<ToolCall> calls_of(const Json& message) {
  std::vector<ToolCall> calls;
  const auto list = message.find("tool_calls");
  if (list == message.end() || !list->is_array()) return calls;
  for (const Json& item : *list) {
    if (!item.is_object() || !item.contains("function") || !item["function"].is_object()) continue;
    const Json& function = item["function"];
    ToolCall call{text_or_empty(item, "id"), text_or_empty(function, "name"), ""};
    if (const auto it = function.find("arguments"); it != function.end()) {
      call.arguments = it->is_string() ? it->get<std::string>() : it->dump();
    }
    if (call.id.empty()) call.id = fmt::format("call_{}", calls.size() + 1);
    calls.push_back(std::move(call));
  }
  return calls;
}

Finish finish_of(const Json& choice, const Message& message) {
  const std::string word = text_or_empty(choice, "finish_reason");
  if (!text_or_empty(choice["message"], "refusal").empty() || word == "content_filter") return Finish::refused;
  if (word == "length") return Finish::length;
  return message.tool_calls.empty() ? Finish::stop : Finish::tool_calls;
}

ChatReply reply_of(const Json& body) {
  const auto choices = body.find("choices");
  if (choices == body.end() || !choices->is_array() || choices->empty() || !(*choices)[0].is_object() ||
      !(*choices)[0].contains("message") || !(*choices)[0]["message"].is_object()) {
    throw Error(ErrorCode::corrupt, "the response holds no choice with a message");
  }
  const Json& choice = (*choices)[0];
  const Json& message = choice["message"];
  ChatReply reply;
  reply.message.role = Role::assistant;
  if (const auto it = message.find("content"); it != message.end()) reply.message.content = content_text(*it);
  reply.message.tool_calls = calls_of(message);
  reply.reasoning = text_or_empty(message, "reasoning_content");
  if (reply.reasoning.empty()) reply.reasoning = text_or_empty(message, "reasoning");
  reply.finish = finish_of(choice, reply.message);
  if (reply.message.content.empty() && reply.finish == Finish::refused)
    reply.message.content = text_or_empty(message, "refusal");
  const Json usage = body.value("usage", Json::object());
  reply.usage.input = count_or_zero(usage, "prompt_tokens");
  reply.usage.output = count_or_zero(usage, "completion_tokens");
  if (usage.is_object())
    reply.usage.cached = count_or_zero(usage.value("prompt_tokens_details", Json()), "cached_tokens");
  reply.system_fingerprint = text_or_empty(body, "system_fingerprint");
  return reply;
}

Json tool_body(const ToolSpec& tool) {
  return {{"type", "function"},
          {"function",
           {{"name", tool.name}, {"description", tool.description}, {"parameters", Json::parse(tool.parameters)}}}};
}

HttpRequest openai_request(const ChatRequest& chat, const jobs::ModelSpec& model) {
  return {url_below(remote_of(model.api)->endpoint, "/chat/completions"),
          {{"content-type", "application/json"}, {"accept", "application/json"}},
          chat_request_body(chat, model)};
}

void openai_sign(HttpRequest& request, const jobs::ModelSpec&, const std::string& key, double) {
  if (!key.empty()) request.headers.push_back({"authorization", "Bearer " + key});
}

std::optional<ChatReply> openai_reply(std::string_view body) {
  if (read_error(body).present) return std::nullopt;
  return parse_chat_response(body);
}

WireVerdict openai_verdict(const HttpAnswer& answer) { return judge_error(answer, read_error(answer.body)); }

}  // namespace

Wire wire_of(const jobs::OpenAi&) { return {openai_request, openai_sign, openai_reply, openai_verdict}; }

std::string chat_request_body(const ChatRequest& request, const jobs::ModelSpec& model) {
  Json body = {{"model", remote_of(model.api)->model}, {"messages", Json::array()}};
  for (const Message& message : request.messages) body["messages"].push_back(message_body(message));
  for (const ToolSpec& tool : request.tools) body["tools"].push_back(tool_body(tool));
  if (request.seed) body["seed"] = *request.seed;
  if (model.temperature) body["temperature"] = *model.temperature;
  if (model.top_p) body["top_p"] = *model.top_p;
  if (model.max_tokens) body["max_tokens"] = *model.max_tokens;
  return body.dump();
}

ChatReply parse_chat_response(std::string_view bytes) {
  const MendedJson mended = mend_json(bytes);
  try {
    const Json body = Json::parse(mended.text);
    if (!body.is_object()) throw Error(ErrorCode::corrupt, "the response is no JSON object");
    ChatReply reply = reply_of(body);
    reply.mended = mended.mended;
    reply.raw = std::string(bytes);
    return reply;
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::corrupt, fmt::format("the response is no chat completion ({})", error.what()));
  }
}

}  // namespace nkigrid::model
