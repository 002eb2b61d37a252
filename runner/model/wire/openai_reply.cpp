#include "runner/model/wire/openai_reply.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/model/json_text.hpp"
#include "runner/model/wire/event_stream.hpp"
#include "runner/model/wire/fields.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

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

/// A name without the marks of a chat template that a server left in it: "f<|channel|>commentary".
std::string name_of(const Json& function) {
  const std::string name = text_or_empty(function, "name");
  return name.substr(0, name.find("<|"));
}

std::string arguments_of(const Json& function) {
  const auto it = function.find("arguments");
  if (it == function.end() || it->is_null()) return "";
  return it->is_string() ? it->get<std::string>() : it->dump();
}

/// The calls of a message. Those without an id, or with one that another has, are given one: an answer names its call.
std::vector<ToolCall> calls_of(const Json& message) {
  std::vector<ToolCall> calls;
  std::unordered_set<std::string> ids;
  std::size_t made = 0;
  const auto add = [&](const Json& function, std::string id) {
    while (id.empty() || !ids.insert(id).second) id = made_call_id(made = std::max(made, calls.size()) + 1);
    calls.push_back({std::move(id), name_of(function), arguments_of(function)});
  };
  const auto is_call = [](const Json& owner, const char* key) {
    return owner.is_object() && owner.contains(key) && owner[key].is_object();
  };
  if (const auto list = message.find("tool_calls"); list != message.end() && list->is_array()) {
    for (const Json& item : *list) {
      if (is_call(item, "function")) add(item["function"], text_or_empty(item, "id"));
    }
  }
  if (calls.empty() && is_call(message, "function_call")) add(message["function_call"], "");  // the older field
  return calls;
}

/// What a message holds of the model's thoughts, and under which name.
std::pair<std::string, std::string> thoughts_of(const Json& message) {
  for (const char* key : {"reasoning_content", "reasoning"}) {
    if (auto text = text_or_empty(message, key); !text.empty()) return {key, std::move(text)};
  }
  return {};
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
  const auto [thoughts_key, thoughts] = thoughts_of(message);
  reply.reasoning = thoughts;
  if (!thoughts.empty() && !reply.message.tool_calls.empty())
    reply.message.opaque = Json{{thoughts_key, thoughts}}.dump();
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

/// Some servers cut a prompt that is too long and say nothing: no token came back, not even the one that ends a reply.
/// After a short prompt that is a server's fault, and read as it is.
bool is_full_context(const Json& body, const Json& choice) {
  constexpr std::uint32_t kSmallestContext = 2048;  // tokens
  const Json usage = body.value("usage", Json());
  if (!usage.is_object() || !usage.contains("completion_tokens") || !usage["completion_tokens"].is_number())
    return false;
  const Json message = choice.value("message", Json());
  if (!message.is_object() || !calls_of(message).empty() || !thoughts_of(message).second.empty()) return false;
  const bool silent = !message.contains("content") || content_text(message["content"]).empty();
  return silent && text_or_empty(message, "refusal").empty() && count_or_zero(usage, "completion_tokens") == 0 &&
         count_or_zero(usage, "prompt_tokens") >= kSmallestContext;
}

/// An error, or a choice that ended in one.
ErrorBody failure_in(const Json& body) {
  if (auto error = error_in(body); error.present) return error;
  if (!body.is_object() || !body.contains("choices") || !body["choices"].is_array() || body["choices"].empty())
    return {};
  const Json& choice = body["choices"][0];
  if (!choice.is_object()) return {};
  if (is_full_context(body, choice)) {
    return {.present = true,
            .message = "an empty reply of 0 tokens to a long prompt: the context is full",
            .code = "context_length_exceeded"};
  }
  const std::string word = text_or_empty(choice, "finish_reason");
  if (word != "error" && word != "abort") return {};
  const std::string words = choice.contains("error") ? choice["error"].dump() : fmt::format("finish_reason {}", word);
  return {.present = true, .message = fmt::format("the reply broke off: {}", words)};
}

}  // namespace

ErrorBody read_failure(std::string_view body) {
  return is_event_stream(body) ? stream_error(body) : failure_in(parse_json(mend_json(body).text));
}

std::optional<ChatReply> parse_chat_response(std::string_view bytes) {
  const MendedJson mended = mend_json(bytes);
  const bool streamed = is_event_stream(mended.text);
  if (streamed && stream_error(mended.text).present) return std::nullopt;
  try {
    const Json body = streamed ? joined_chunks(mended.text) : parse_json(mended.text);
    if (!body.is_object()) throw Error(ErrorCode::corrupt, "the response is no JSON object");
    if (!streamed && failure_in(body).present) return std::nullopt;
    ChatReply reply = reply_of(body);
    reply.mended = mended.mended;
    reply.raw = std::string(bytes);
    return reply;
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::corrupt, fmt::format("the response is no chat completion ({})", error.what()));
  }
}

}  // namespace nkigrid::model
