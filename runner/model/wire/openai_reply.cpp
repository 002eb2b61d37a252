#include "runner/model/wire/openai_reply.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/model/chat_json.hpp"
#include "runner/model/json_text.hpp"
#include "runner/model/wire/event_stream.hpp"
#include "runner/model/wire/fields.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

bool is_thought_part(const Json& part) {
  const std::string type = text_or_empty(part, "type");
  return type == "thinking" || type == "reasoning" || type == "reasoning_text";
}

/// The text in what may be null, a string, a part, or a list of these; a part's own text may be such a list again.
/// @param thoughts the text of the parts that are thoughts, or of those that are none
std::string text_in(const Json& content, bool thoughts, bool within_thought = false) {
  if (content.is_string()) return thoughts == within_thought ? content.get<std::string>() : "";
  std::string text;
  if (content.is_array()) {
    for (const Json& part : content) text += text_in(part, thoughts, within_thought);
  } else if (content.is_object()) {
    const bool thought = within_thought || is_thought_part(content);
    for (const char* key : {"text", "thinking"})
      if (content.contains(key)) text += text_in(content[key], thoughts, thought);
  }
  return text;
}

/// A name without what servers leave around it: marks of a chat template ("f<|channel|>commentary"), a namespace and a
/// number ("functions.f:0"), spaces. Of "assistant to=functions.f" it is the one that is spoken to.
std::string name_of(const Json& function) {
  constexpr std::string_view kTo = "to=functions.", kNamespace = "functions.";
  std::string name = text_or_empty(function, "name");
  if (const auto to = name.find(kTo); to != std::string::npos) name = name.substr(to + kTo.size());
  name = name.substr(0, name.find("<|"));
  const auto first = std::min(name.find_first_not_of(" \t\r\n"), name.size());
  name = name.substr(first, name.find_last_not_of(" \t\r\n>") + 1 - first);
  if (!name.starts_with(kNamespace)) return name;
  name = name.substr(kNamespace.size());
  return name.substr(0, name.find(':'));
}

std::string arguments_of(const Json& function) {
  for (const char* key : {"arguments", "parameters", "input"}) {
    const auto it = function.find(key);
    if (it == function.end() || it->is_null()) continue;
    return it->is_string() ? it->get<std::string>() : it->dump();
  }
  return "";
}

/// A call's id, whatever it was written as.
std::string id_of(const Json& item) {
  const auto it = item.find("id");
  return it != item.end() && it->is_number() ? it->dump() : text_or_empty(item, "id");
}

/// The list of calls: some servers send one call alone, or all of them as text.
Json call_list(const Json& message) {
  const auto found = message.find("tool_calls");
  if (found == message.end()) return Json::array();
  Json list = found->is_string() ? parse_json(found->get<std::string>()) : *found;
  return list.is_object() ? Json::array({std::move(list)}) : list;
}

bool is_call_part(const Json& part) {
  const std::string type = text_or_empty(part, "type");
  return (type == "tool_use" || type == "tool_call" || type == "function_call") && !text_or_empty(part, "name").empty();
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
  for (const Json& item : call_list(message)) {
    if (is_call(item, "function")) {
      add(item["function"], id_of(item));
    } else if (is_call(item, "custom")) {
      add(item["custom"], id_of(item));
    } else if (item.is_object() && !text_or_empty(item, "name").empty()) {
      add(item, id_of(item));
    }
  }
  if (calls.empty() && is_call(message, "function_call")) add(message["function_call"], "");  // the older field
  if (calls.empty() && message.contains("content") && message["content"].is_array()) {
    for (const Json& part : message["content"])  // gateways to Messages leave its blocks as they are
      if (is_call_part(part)) add(part, id_of(part));
  }
  return calls;
}

/// What a message holds of the model's thoughts, and under which name.
std::pair<std::string, std::string> thoughts_of(const Json& message) {
  for (const char* key : {"reasoning_content", "reasoning", "thinking"}) {
    if (auto text = text_or_empty(message, key); !text.empty()) return {key, std::move(text)};
  }
  const auto details = message.find("reasoning_details");  // OpenRouter's: parts, each of them a thought
  if (details != message.end() && details->is_array())
    if (auto text = text_in(*details, true, true); !text.empty()) return {"", std::move(text)};
  const auto content = message.find("content");
  return {"", content == message.end() ? "" : text_in(*content, true)};
}

/// What the newest words for the end of a reply mean; servers have their own beside those of the interface.
enum class Ending { whole, cut, refused, broken };
struct EndingWord {
  std::string_view word;
  Ending ending;
};
constexpr std::array<EndingWord, 25> kEndings = {{{"length", Ending::cut},
                                                  {"max_tokens", Ending::cut},
                                                  {"max_length", Ending::cut},
                                                  {"max_output_tokens", Ending::cut},
                                                  {"model_length", Ending::cut},
                                                  {"length_exceeded", Ending::cut},
                                                  {"incomplete", Ending::cut},
                                                  {"content_filter", Ending::refused},
                                                  {"prompt_filtered", Ending::refused},
                                                  {"safety", Ending::refused},
                                                  {"recitation", Ending::refused},
                                                  {"prohibited_content", Ending::refused},
                                                  {"blocklist", Ending::refused},
                                                  {"spii", Ending::refused},
                                                  {"image_safety", Ending::refused},
                                                  {"sensitive", Ending::refused},
                                                  {"refusal", Ending::refused},
                                                  {"error", Ending::broken},
                                                  {"abort", Ending::broken},
                                                  {"aborted", Ending::broken},
                                                  {"cancelled", Ending::broken},
                                                  {"canceled", Ending::broken},
                                                  {"timeout", Ending::broken},
                                                  {"network_error", Ending::broken},
                                                  {"insufficient_system_resource", Ending::broken}}};

/// The word of a choice; some servers write `{"type": "abort", "message": ...}`.
std::string finish_word(const Json& choice) {
  const auto it = choice.find("finish_reason");
  std::string word =
      it != choice.end() && it->is_object() ? text_or_empty(*it, "type") : text_or_empty(choice, "finish_reason");
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return c == '-' ? '_' : static_cast<char>(std::tolower(c)); });
  return word;
}

Ending ending_of(const Json& choice) {
  const std::string word = finish_word(choice);
  const auto known = std::find_if(kEndings.begin(), kEndings.end(), [&](const auto& row) { return row.word == word; });
  if (known != kEndings.end()) return known->ending;
  return word.ends_with("_error") || word.ends_with("_failed") ? Ending::broken : Ending::whole;
}

Finish finish_of(const Json& choice, const Message& message) {
  const Ending ending = ending_of(choice);
  if (!text_or_empty(choice["message"], "refusal").empty() || ending == Ending::refused) return Finish::refused;
  if (ending == Ending::cut) return Finish::length;
  return message.tool_calls.empty() ? Finish::stop : Finish::tool_calls;
}

/// The first of some counts that is told.
std::uint32_t any_count(const Json& usage, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (const auto count = count_or_zero(usage, key); count > 0) return count;
  }
  return 0;
}

/// The counts, where servers put them: beside the choices, in the last one, or in an object of their own name.
Json usage_in(const Json& body) {
  Json usage = body.value("usage", Json());
  if (usage.is_object()) return usage;
  usage = body["choices"][0].value("usage", Json());
  if (usage.is_object()) return usage;
  const Json own = body.value("x_groq", Json());
  return own.is_object() ? own.value("usage", Json()) : Json();
}

Usage usage_of(const Json& usage) {
  Usage counted;
  counted.input = any_count(usage, {"prompt_tokens", "input_tokens"});
  counted.output = any_count(usage, {"completion_tokens", "output_tokens"});
  counted.cached = any_count(usage, {"prompt_cache_hit_tokens", "cached_tokens"});
  for (const char* key : {"prompt_tokens_details", "input_tokens_details"})
    if (usage.is_object() && counted.cached == 0)
      counted.cached = count_or_zero(usage.value(key, Json()), "cached_tokens");
  return counted;
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
  if (const auto it = message.find("content"); it != message.end()) reply.message.content = text_in(*it, false);
  reply.message.tool_calls = calls_of(message);
  const auto [thoughts_key, thoughts] = thoughts_of(message);
  reply.reasoning = thoughts;
  if (!thoughts.empty()) reply.thoughts_key = thoughts_key;
  if (!reply.message.tool_calls.empty()) give_thoughts_back(reply.message, reply);
  reply.finish = finish_of(choice, reply.message);
  if (reply.message.content.empty() && reply.finish == Finish::refused)
    reply.message.content = text_or_empty(message, "refusal");
  reply.usage = usage_of(usage_in(body));
  reply.system_fingerprint = text_or_empty(body, "system_fingerprint");
  return reply;
}

/// Nothing was said, and no token came back, not even the one that ends a reply.
bool is_silent(const Json& body, const Json& choice) {
  const Json message = choice.value("message", Json());
  if (!message.is_object() || !calls_of(message).empty() || !thoughts_of(message).second.empty()) return false;
  if (message.contains("content") && !text_in(message["content"], false).empty()) return false;
  if (!text_or_empty(message, "refusal").empty()) return false;
  const Json usage = body.value("usage", Json());
  const bool counted =
      usage.is_object() && usage.contains("completion_tokens") && usage["completion_tokens"].is_number();
  // Where nobody counts, a reply that has not ended either is none.
  return counted ? count_or_zero(usage, "completion_tokens") == 0 : finish_word(choice).empty();
}

/// Some servers cut a prompt that is too long and say nothing. After a short prompt silence is the server's fault.
bool is_long(const Json& body) {
  constexpr std::uint32_t kSmallestContext = 2048;  // tokens
  return count_or_zero(body.value("usage", Json()), "prompt_tokens") >= kSmallestContext;
}

bool holds_calls(const Json& owner) {
  return owner.is_object() && owner.contains("tool_calls") && owner["tool_calls"].is_array() &&
         !owner["tool_calls"].empty();
}

/// One reply is asked for: where a gateway splits it, the words in one choice and the calls in another or beside the
/// message, the calls are the first one's.
void join_choices(Json& choices) {
  if (choices.empty() || !choices[0].is_object() || !choices[0].contains("message") ||
      !choices[0]["message"].is_object() || !calls_of(choices[0]["message"]).empty())
    return;
  for (const Json& choice : choices) {
    if (!choice.is_object()) continue;
    const Json message = choice.value("message", Json());
    const Json& owner = holds_calls(message) ? message : choice;
    if (!holds_calls(owner)) continue;
    choices[0]["message"]["tool_calls"] = Json(owner["tool_calls"]);
    if (choice.contains("finish_reason")) choices[0]["finish_reason"] = Json(choice["finish_reason"]);
    return;
  }
}

/// The reply's body: gateways put it under `data`, and of several choices the first may stand later.
Json body_in(std::string_view text, bool streamed) {
  Json body = streamed ? joined_chunks(text) : parse_json(text);
  if (!body.is_object()) return body;
  const auto data = body.find("data");
  if (!body.contains("choices") && data != body.end() && data->is_object() && data->contains("choices"))
    body = Json(std::move(*data));
  const auto choices = body.find("choices");
  if (choices == body.end() || !choices->is_array()) return body;
  const auto first = std::find_if(choices->begin(), choices->end(), [](const Json& choice) {
    return choice.is_object() && choice.value("index", Json(0)) == 0;
  });
  if (first != choices->end()) std::iter_swap(choices->begin(), first);
  join_choices(*choices);
  return body;
}

/// An error, or a choice that ended in one.
ErrorBody failure_in(const Json& body) {
  if (auto error = error_in(body); error.present) return error;
  if (!body.is_object() || !body.contains("choices") || !body["choices"].is_array() || body["choices"].empty())
    return {};
  const Json& choice = body["choices"][0];
  if (!choice.is_object()) return {};
  const Ending ending = ending_of(choice);
  const bool silent = is_silent(body, choice);
  if (silent && is_long(body)) {
    return {.present = true,
            .message = "an empty reply of 0 tokens to a long prompt: the context is full",
            .code = "context_length_exceeded"};
  }
  if (silent && ending == Ending::whole) return {.present = true, .message = "an empty reply of 0 tokens"};
  if (ending != Ending::broken) return {};
  const std::string words = choice.contains("error") ? choice["error"].dump()
                                                     : fmt::format("finish_reason {}", choice["finish_reason"].dump());
  return {.present = true, .message = fmt::format("the reply broke off: {}", words)};
}

}  // namespace

ErrorBody read_failure(std::string_view bytes) {
  const MendedJson mended = mend_json(bytes);
  const std::string_view text = without_comments(mended.text);
  const bool streamed = is_event_stream(text);
  if (auto error = streamed ? stream_error(text) : ErrorBody{}; error.present) return error;
  try {
    return failure_in(body_in(text, streamed));
  } catch (const std::exception&) {
    return {};  // it is cut, or of no form: parse_chat_response() tells
  }
}

std::optional<ChatReply> parse_chat_response(std::string_view bytes) {
  const MendedJson mended = mend_json(bytes);
  const std::string_view text = without_comments(mended.text);
  const bool streamed = is_event_stream(text);
  if (streamed && stream_error(text).present) return std::nullopt;
  try {
    const Json body = body_in(text, streamed);
    if (!body.is_object()) throw Error(ErrorCode::corrupt, "the response is no JSON object");
    if (failure_in(body).present) return std::nullopt;
    ChatReply reply = reply_of(body);
    reply.mended = mended.mended;
    reply.raw = std::string(bytes);
    return reply;
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::corrupt, fmt::format("the response is no chat completion ({})", error.what()));
  }
}

}  // namespace nkigrid::model
