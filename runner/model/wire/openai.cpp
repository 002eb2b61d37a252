#include "runner/model/wire/openai.hpp"

#include <numeric>

#include <nlohmann/json.hpp>

#include "jobs/base/text.hpp"
#include "runner/model/json_text.hpp"
#include "runner/model/json_writer.hpp"
#include "runner/model/wire/faults.hpp"
#include "runner/model/wire/openai_reply.hpp"
#include "runner/model/wire/openai_responses.hpp"
#include "runner/model/wire/request.hpp"
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

/// As received where that is an object: its bytes may be what a cache knows.
std::string sendable_text(const std::string& arguments) {
  const std::string text = to_valid_utf8(arguments);
  return parse_json(text).is_object() ? text : sendable_arguments(arguments).dump();
}

Json message_body(const Message& message, const Dialect& dialect, CallIds& ids) {
  Json body = {{"role", role_name(message.role)}, {"content", to_valid_utf8(message.content)}};
  for (const ToolCall& call : message.tool_calls) {
    body["tool_calls"].push_back(
        {{"id", ids.of_call(call.id)},
         {"type", "function"},
         {"function", {{"name", sendable_name(call.name)}, {"arguments", sendable_text(call.arguments)}}}});
  }
  if (!message.tool_calls.empty() && message.content.empty() && !dialect.empty_content) body["content"] = nullptr;
  // Thoughts belong to the calls that came out of them: with those they go back, alone they are refused.
  if (!message.tool_calls.empty()) {
    if (const Json thoughts = parse_json(message.opaque); thoughts.is_object()) body.update(thoughts);
  }
  if (message.role == Role::tool) body["tool_call_id"] = ids.of_answer(message.tool_call_id);
  return body;
}

/// All messages. Those of words alone, nearly all of a request's bytes, are written straight.
std::string messages_text(const ChatRequest& request, const Dialect& dialect) {
  std::string text;
  text.reserve(std::accumulate(
      request.messages.begin(), request.messages.end(), std::size_t{0},
      [](std::size_t sum, const Message& message) { return sum + message.content.size() * 9 / 8 + 64; }));
  text += '[';
  CallIds ids;
  for (const Message& message : request.messages) {
    if (text.size() > 1) text += ',';
    if (message.tool_calls.empty() && message.role != Role::tool)
      JsonObject(text).text("content", message.content).text("role", role_name(message.role)).end();
    else
      text += message_body(message, dialect, ids).dump();
  }
  text += ']';
  return text;
}

Json tool_body(const ToolSpec& tool) {
  return {{"type", "function"},
          {"function",
           {{"name", tool.name}, {"description", tool.description}, {"parameters", Json::parse(tool.parameters)}}}};
}

/// All but the messages.
Json chat_body(const ChatRequest& request, const jobs::ModelSpec& model, const Dialect& dialect) {
  Json body = {{"model", remote_of(model.api)->model}};
  for (const ToolSpec& tool : request.tools) body["tools"].push_back(tool_body(tool));
  if (request.seed && !dialect.no_seed) body["seed"] = *request.seed;
  if (model.temperature && !dialect.no_temperature) body["temperature"] = *model.temperature;
  if (model.top_p && !dialect.no_top_p) body["top_p"] = *model.top_p;
  if (model.max_tokens)
    body[dialect.max_completion_tokens ? "max_completion_tokens" : "max_tokens"] = *model.max_tokens;
  return body;
}

HttpRequest openai_request(const ChatRequest& chat, const jobs::ModelSpec& model, const Dialect& dialect) {
  return post_json(*remote_of(model.api), "/chat/completions", chat_body(chat, model, dialect),
                   {"messages", messages_text(chat, dialect)});
}

WireVerdict openai_verdict(const HttpAnswer& answer) {
  const ErrorBody error = read_failure(answer.body);
  return adapted(judge_error(answer, error), answer.status, error);
}

}  // namespace

void bearer_sign(HttpRequest& request, const jobs::ModelSpec&, const ApiKey& key, double) {
  if (!key.value.empty()) request.headers.push_back({"authorization", "Bearer " + key.value});
}

Wire wire_of(const jobs::OpenAi& api) {
  if (api.form == jobs::OpenAi::Form::responses) return responses_wire();
  return {openai_request, bearer_sign, parse_chat_response, openai_verdict};
}

}  // namespace nkigrid::model
