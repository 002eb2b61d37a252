#include "runner/model/wire/openai_responses.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "jobs/base/text.hpp"
#include "runner/model/json_text.hpp"
#include "runner/model/wire/event_stream.hpp"
#include "runner/model/wire/faults.hpp"
#include "runner/model/wire/fields.hpp"
#include "runner/model/wire/openai.hpp"
#include "runner/model/wire/request.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

std::vector<std::string> item_call_ids(const Json& items) {
  std::vector<std::string> ids;
  for (const Json& item : items)
    if (text_or_empty(item, "type") == "function_call") ids.push_back(text_or_empty(item, "call_id"));
  return ids;
}

/// An earlier reply: its items as they came, thoughts included, when they hold the very calls that are answered.
void add_reply_items(Json& input, const Message& message, CallIds& ids) {
  std::vector<std::string> sent;
  for (const ToolCall& call : message.tool_calls) sent.push_back(ids.of_call(call.id));
  const Json came = parse_json(message.opaque);
  const auto is_more = [](const Json& item) { return text_or_empty(item, "type") != "reasoning"; };
  const bool has_more =
      came.is_array() && std::any_of(came.begin(), came.end(), is_more);  // thoughts alone are refused
  if (has_more && item_call_ids(came) == sent) {
    input.insert(input.end(), came.begin(), came.end());
    return;
  }
  if (!message.content.empty()) input.push_back({{"role", "assistant"}, {"content", to_valid_utf8(message.content)}});
  for (std::size_t i = 0; i < sent.size(); ++i) {
    input.push_back({{"type", "function_call"},
                     {"call_id", sent[i]},
                     {"name", sendable_name(message.tool_calls[i].name)},
                     {"arguments", sendable_arguments(message.tool_calls[i].arguments).dump()}});
  }
}

Json input_of(const std::vector<Message>& messages) {
  Json input = Json::array();
  CallIds ids;
  for (const Message& message : messages) {
    const std::string text = to_valid_utf8(message.content);
    switch (message.role) {
      case Role::system:
        input.push_back({{"role", "system"}, {"content", text}});
        break;
      case Role::user:
        input.push_back({{"role", "user"}, {"content", text}});
        break;
      case Role::assistant:
        add_reply_items(input, message, ids);
        break;
      case Role::tool:
        input.push_back(
            {{"type", "function_call_output"}, {"call_id", ids.of_answer(message.tool_call_id)}, {"output", text}});
        break;
    }
  }
  return input;
}

HttpRequest responses_request(const ChatRequest& chat, const jobs::ModelSpec& model, const Dialect& dialect) {
  const auto& remote = *remote_of(model.api);
  Json body = {{"model", remote.model},
               {"input", input_of(chat.messages)},
               {"store", false},
               {"include", Json::array({"reasoning.encrypted_content"})}};
  for (const ToolSpec& tool : chat.tools) {
    body["tools"].push_back({{"type", "function"},
                             {"name", tool.name},
                             {"description", tool.description},
                             {"parameters", Json::parse(tool.parameters)},
                             {"strict", false}});
  }
  if (model.temperature && !dialect.no_temperature) body["temperature"] = *model.temperature;
  if (model.top_p && !dialect.no_top_p) body["top_p"] = *model.top_p;
  if (model.max_tokens) body["max_output_tokens"] = *model.max_tokens;
  return post_json(remote, "/responses", std::move(body));
}

void read_parts(ChatReply& reply, const Json& parts) {
  if (parts.is_string()) reply.message.content += parts.get<std::string>();
  if (!parts.is_array()) return;
  for (const Json& part : parts) {
    reply.message.content += text_or_empty(part, "text");
    const std::string refusal = text_or_empty(part, "refusal");
    if (refusal.empty()) continue;
    reply.message.content += refusal;
    reply.finish = Finish::refused;
  }
}

void read_item(ChatReply& reply, const Json& item) {
  const std::string type = text_or_empty(item, "type");
  if (type == "message") read_parts(reply, item.value("content", Json()));
  if (type == "function_call") {
    const std::string id = text_or_empty(item, "call_id");
    const Json arguments = item.value("arguments", Json(""));
    reply.message.tool_calls.push_back({id.empty() ? text_or_empty(item, "id") : id, text_or_empty(item, "name"),
                                        arguments.is_string() ? arguments.get<std::string>() : arguments.dump()});
  }
  if (type != "reasoning") return;
  for (const char* key : {"summary", "content"}) {
    for (const Json& part : item.value(key, Json::array())) reply.reasoning += text_or_empty(part, "text");
  }
}

Finish finish_of_response(const Json& body, const ChatReply& reply) {
  const std::string why = text_or_empty(body.value("incomplete_details", Json()), "reason");
  if (reply.finish == Finish::refused || why == "content_filter") return Finish::refused;
  if (text_or_empty(body, "status") == "incomplete") return Finish::length;
  return reply.message.tool_calls.empty() ? Finish::stop : Finish::tool_calls;
}

Usage usage_of_response(const Json& body) {
  const Json usage = body.value("usage", Json());
  Usage counted;
  counted.input = count_or_zero(usage, "input_tokens");
  counted.output = count_or_zero(usage, "output_tokens");
  if (usage.is_object()) counted.cached = count_or_zero(usage.value("input_tokens_details", Json()), "cached_tokens");
  return counted;
}

/// The response in a body, also of one that streams: its last event holds all of it, or its items came one by one.
Json response_in(std::string_view bytes) {
  const MendedJson mended = mend_json(bytes);
  if (!is_event_stream(mended.text)) return parse_json(mended.text);
  Json found, items = Json::array();
  for (const std::string_view event : events_of(mended.text)) {
    const Json json = parse_json(event);
    if (!json.is_object()) continue;
    if (json.contains("response")) found = json["response"];
    if (text_or_empty(json, "type") == "response.output_item.done" && json.contains("item"))
      items.push_back(json["item"]);
  }
  // Some end with a response that no longer holds what they sent.
  if (found.is_object() && found.value("output", Json::array()).empty() && !items.empty()) found["output"] = items;
  return found;
}

ErrorBody response_failure(std::string_view bytes) {
  if (auto error = is_event_stream(bytes) ? stream_error(bytes) : read_error(bytes); error.present) return error;
  const Json body = response_in(bytes);
  const std::string status = text_or_empty(body, "status");
  if (status != "failed" && status != "cancelled") return {};
  auto why = read_error(body.dump());  // of a stream: the error lies within the event's response
  return why.present ? why : ErrorBody{true, "the response " + status, "", ""};
}

std::optional<ChatReply> read_responses(std::string_view bytes) {
  if (response_failure(bytes).present) return std::nullopt;
  const Json body = response_in(bytes);
  const bool ended = text_or_empty(body, "status") == "completed" || text_or_empty(body, "status") == "incomplete";
  if (!body.is_object() || !body.contains("output") || !body["output"].is_array() || !ended)
    throw Error(ErrorCode::corrupt, "the response holds no output that has ended: it is cut, or no response at all");
  ChatReply reply;
  reply.message.role = Role::assistant;
  const Json& items = body["output"];
  for (const Json& item : items) read_item(reply, item);
  const auto is_thought = [](const Json& item) { return text_or_empty(item, "type") == "reasoning"; };
  if (std::any_of(items.begin(), items.end(), is_thought)) reply.message.opaque = items.dump();
  reply.finish = finish_of_response(body, reply);
  reply.usage = usage_of_response(body);
  reply.mended = mend_json(bytes).mended;
  return reply;
}

std::optional<ChatReply> responses_reply(std::string_view bytes) { return read_or_corrupt(bytes, read_responses); }

WireVerdict responses_verdict(const HttpAnswer& answer) {
  const ErrorBody error = response_failure(answer.body);
  return adapted(judge_error(answer, error), answer.status, error);
}

}  // namespace

Wire responses_wire() { return {responses_request, bearer_sign, responses_reply, responses_verdict}; }

}  // namespace nkigrid::model
