#include "runner/model/wire/openai_server.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"
#include "runner/model/json_text.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorCode::usage, what); }

Role role_of(const std::string& name) {
  if (name == "system" || name == "developer") return Role::system;
  if (name == "user") return Role::user;
  if (name == "assistant") return Role::assistant;
  if (name == "tool") return Role::tool;
  refuse(fmt::format("unknown role '{}' in messages (legal: system, developer, user, assistant, tool)", name));
}

std::string text_of(const Json& content) {
  if (content.is_null()) return "";
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  for (const Json& part : content) text += part.value("text", "");
  return text;
}

Message served_message(const Json& json) {
  Message message;
  message.role = role_of(json.at("role").get<std::string>());
  if (json.contains("content")) message.content = text_of(json["content"]);
  message.tool_call_id = json.value("tool_call_id", "");
  if (!json.contains("tool_calls") || json["tool_calls"].is_null()) return message;
  for (const Json& call : json["tool_calls"]) {
    const Json& function = call.at("function");
    message.tool_calls.push_back({call.at("id").get<std::string>(), function.at("name").get<std::string>(),
                                  function.at("arguments").get<std::string>()});
  }
  return message;
}

std::string_view finish_word(Finish finish) {
  switch (finish) {
    case Finish::stop:
      return "stop";
    case Finish::length:
      return "length";
    case Finish::tool_calls:
      return "tool_calls";
    case Finish::refused:
      return "content_filter";
  }
  return "stop";
}

Json served_body(const Message& message) {
  Json body = {{"role", "assistant"}, {"content", to_valid_utf8(message.content)}};
  for (const ToolCall& call : message.tool_calls) {
    body["tool_calls"].push_back({{"id", call.id},
                                  {"type", "function"},
                                  {"function", {{"name", call.name}, {"arguments", to_valid_utf8(call.arguments)}}}});
  }
  return body;
}

}  // namespace

ServedRequest parse_chat_request(std::string_view bytes) {
  try {
    const Json body = parse_json(mend_json(bytes).text);
    if (body.is_discarded()) refuse("the request is no chat completion request (no JSON, or nested too deep)");
    ServedRequest served;
    served.model = body.at("model").get<std::string>();
    if (body.value("stream", false)) refuse("'stream': true is not served; leave it out");
    for (const Json& message : body.at("messages")) served.request.messages.push_back(served_message(message));
    if (served.request.messages.empty()) refuse("'messages' is empty; send at least the task");
    for (const Json& tool : body.value("tools", Json::array())) {
      const Json& function = tool.at("function");
      served.request.tools.push_back({function.at("name").get<std::string>(), function.value("description", ""),
                                      function.value("parameters", Json::object()).dump()});
    }
    if (body.contains("seed") && !body["seed"].is_null()) served.request.seed = body["seed"].get<std::uint32_t>();
    return served;
  } catch (const Json::exception& error) {
    refuse(fmt::format("the request is no chat completion request ({})", error.what()));
  }
}

std::string chat_response_body(const ChatReply& reply, std::string_view model, std::string_view id) {
  const Usage& usage = reply.usage;
  const Json body = {
      {"id", id},
      {"object", "chat.completion"},
      {"created", 0},
      {"model", model},
      {"system_fingerprint", reply.system_fingerprint},
      {"choices",
       Json::array(
           {{{"index", 0}, {"message", served_body(reply.message)}, {"finish_reason", finish_word(reply.finish)}}})},
      {"usage",
       {{"prompt_tokens", usage.input},
        {"completion_tokens", usage.output},
        {"total_tokens", usage.input + usage.output}}}};
  return body.dump();
}

std::string error_body(std::string_view message, std::string_view type, std::string_view code) {
  return Json{{"error", {{"message", to_valid_utf8(message)}, {"type", type}, {"param", nullptr}, {"code", code}}}}
      .dump();
}

}  // namespace nkigrid::model
