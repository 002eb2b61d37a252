#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "jobs/base/text.hpp"
#include "runner/model/json_text.hpp"
#include "runner/model/wire/anthropic_stream.hpp"
#include "runner/model/wire/event_stream.hpp"
#include "runner/model/wire/faults.hpp"
#include "runner/model/wire/fields.hpp"
#include "runner/model/wire/request.hpp"
#include "runner/model/wire/wire.hpp"

/// Messages. @source platform.claude.com/docs: api/messages, handling-stop-reasons, extended-thinking, prompt-caching
namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

bool is_thought(const Json& block) {
  const std::string type = text_or_empty(block, "type");
  return type == "thinking" || type == "redacted_thinking";
}

/// Replies hold such blocks; sent back they are refused.
bool is_blank_text(const Json& block) {
  return text_or_empty(block, "type") == "text" && is_blank(text_or_empty(block, "text"));
}

std::vector<std::string> call_ids(const Json& blocks) {
  std::vector<std::string> ids;
  for (const Json& block : blocks)
    if (text_or_empty(block, "type") == "tool_use") ids.push_back(text_or_empty(block, "id"));
  return ids;
}

/// An earlier reply. Its blocks go back as they came, signatures and all, when they hold the very calls that are
/// answered; else its thoughts alone do, for a call may have been read out of the text.
void add_reply(Json& content, const Message& message, CallIds& ids) {
  std::vector<std::string> sent;
  for (const ToolCall& call : message.tool_calls) sent.push_back(ids.of_call(call.id));
  const Json came = parse_json(message.opaque);
  if (came.is_array() && call_ids(came) == sent) {
    std::remove_copy_if(came.begin(), came.end(), std::back_inserter(content), is_blank_text);
    return;
  }
  if (came.is_array()) std::copy_if(came.begin(), came.end(), std::back_inserter(content), is_thought);
  if (!is_blank(message.content)) content.push_back({{"type", "text"}, {"text", to_valid_utf8(message.content)}});
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const ToolCall& call = message.tool_calls[i];
    content.push_back({{"type", "tool_use"},
                       {"id", sent[i]},
                       {"name", sendable_name(call.name)},
                       {"input", sendable_arguments(call.arguments)}});
  }
}

void add_user(Json& content, const Message& message, CallIds& ids) {
  const std::string text = to_valid_utf8(message.content);
  if (message.role != Role::tool) {
    content.push_back({{"type", "text"}, {"text", text}});
    return;
  }
  Json block = {{"type", "tool_result"}, {"tool_use_id", ids.of_answer(message.tool_call_id)}, {"content", text}};
  if (message.is_error) block["is_error"] = true;
  content.push_back(block);
}

Json messages_body(const std::vector<Message>& messages) {
  Json list = Json::array();
  CallIds ids;
  for (const Side& side : sides_of(messages)) {
    Json content = Json::array();
    for (const Message* message : side.messages)
      side.assistant ? add_reply(content, *message, ids) : add_user(content, *message, ids);
    list.push_back({{"role", side.assistant ? "assistant" : "user"}, {"content", content}});
  }
  return list;
}

/// The beginning that the next turn shares ends at a mark: once behind the tools and the system message, which all
/// episodes of a cell share, and once behind what has been said so far.
void mark_for_cache(Json& body) {
  const Json mark = {{"type", "ephemeral"}};
  if (body.contains("system")) body["system"].back()["cache_control"] = mark;
  if (!body["messages"].empty()) body["messages"].back()["content"].back()["cache_control"] = mark;
}

HttpRequest anthropic_request(const ChatRequest& chat, const jobs::ModelSpec& model, const Dialect& dialect) {
  const auto& api = std::get<jobs::Anthropic>(model.api);
  Json body = {{"model", api.remote.model},
               {"max_tokens", model.max_tokens.value_or(4096)},  // the grid requires it
               {"messages", messages_body(chat.messages)}};
  if (const std::string text = system_text(chat.messages); !text.empty())
    body["system"] = Json::array({{{"type", "text"}, {"text", text}}});
  for (const ToolSpec& tool : chat.tools) {
    body["tools"].push_back(
        {{"name", tool.name}, {"description", tool.description}, {"input_schema", Json::parse(tool.parameters)}});
  }
  if (model.temperature && !dialect.no_temperature) body["temperature"] = *model.temperature;
  if (model.top_p && !dialect.no_top_p) body["top_p"] = *model.top_p;
  if (api.prompt_cache) mark_for_cache(body);
  return post_json(api.remote, "/messages", std::move(body));
}

void anthropic_sign(HttpRequest& request, const jobs::ModelSpec&, const ApiKey& key, double) {
  request.headers.push_back({"anthropic-version", "2023-06-01"});  // every request needs it, whatever it asks for
  if (!key.value.empty()) request.headers.push_back({"x-api-key", key.value});
}

Finish finish_of_message(const std::string& reason, const Message& message) {
  if (reason == "refusal") return Finish::refused;
  if (reason == "max_tokens" || reason == "model_context_window_exceeded") return Finish::length;
  return message.tool_calls.empty() ? Finish::stop : Finish::tool_calls;
}

/// The api closes the braces of a call that a limit cut, so that it reads as whole; what is known to be cut is marked
/// by a brace that is missing again.
void open_cut_call(ChatReply& reply, const Json& blocks) {
  const bool cut =
      reply.finish == Finish::length && !blocks.empty() && text_or_empty(blocks.back(), "type") == "tool_use";
  if (cut && !reply.message.tool_calls.empty()) reply.message.tool_calls.back().arguments.pop_back();
}

void read_block(ChatReply& reply, const Json& block) {
  const std::string type = text_or_empty(block, "type");
  if (type == "text") reply.message.content += text_or_empty(block, "text");
  if (type == "thinking") reply.reasoning += text_or_empty(block, "thinking");
  if (type == "tool_use") {
    const Json input = block.value("input", Json::object());
    reply.message.tool_calls.push_back({text_or_empty(block, "id"), text_or_empty(block, "name"),
                                        input.is_string() ? input.get<std::string>() : input.dump()});
  }
}

Usage usage_of_message(const Json& body) {
  const Json usage = body.value("usage", Json());
  Usage counted;
  counted.cached = count_or_zero(usage, "cache_read_input_tokens");
  counted.cache_written = count_or_zero(usage, "cache_creation_input_tokens");
  counted.input = count_or_zero(usage, "input_tokens") + counted.cached + counted.cache_written;
  counted.output = count_or_zero(usage, "output_tokens");
  return counted;
}

Json parsed(std::string_view body) {
  const MendedJson mended = mend_json(body);
  return is_event_stream(mended.text) ? joined_events(mended.text) : parse_json(mended.text);
}

ErrorBody failure_of(std::string_view body) { return is_event_stream(body) ? stream_error(body) : read_error(body); }

std::optional<ChatReply> read_anthropic(std::string_view bytes) {
  if (failure_of(bytes).present) return std::nullopt;
  Json body = parsed(bytes);
  if (body.is_object() && body.contains("content") && body["content"].is_string())
    body["content"] = Json::array({{{"type", "text"}, {"text", body["content"]}}});
  if (!body.is_object() || !body.contains("content") || !body["content"].is_array())
    throw Error(ErrorCode::corrupt, "the response holds no content: it is cut, or no message at all");
  ChatReply reply;
  reply.message.role = Role::assistant;
  const Json& blocks = body["content"];
  for (const Json& block : blocks) read_block(reply, block);
  // Thoughts are signed: changed or left out, the next request is refused.
  if (std::any_of(blocks.begin(), blocks.end(), is_thought)) reply.message.opaque = blocks.dump();
  reply.finish = finish_of_message(text_or_empty(body, "stop_reason"), reply.message);
  open_cut_call(reply, blocks);
  reply.usage = usage_of_message(body);
  reply.mended = mend_json(bytes).mended;
  return reply;
}

std::optional<ChatReply> anthropic_reply(std::string_view bytes) { return read_or_corrupt(bytes, read_anthropic); }

WireVerdict anthropic_verdict(const HttpAnswer& answer) {
  const ErrorBody error = failure_of(answer.body);
  return adapted(judge_error(answer, error), answer.status, error);
}

}  // namespace

Wire wire_of(const jobs::Anthropic&) { return {anthropic_request, anthropic_sign, anthropic_reply, anthropic_verdict}; }

}  // namespace nkigrid::model
