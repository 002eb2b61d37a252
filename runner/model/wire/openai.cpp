#include "runner/model/wire/openai.hpp"

#include <deque>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "jobs/base/text.hpp"
#include "runner/model/json_text.hpp"
#include "runner/model/wire/faults.hpp"
#include "runner/model/wire/openai_reply.hpp"
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
  if (parse_json(text).is_object()) return text;
  const Json relaxed = parse_json(relaxed_json(text));
  return relaxed.is_object() ? relaxed.dump() : Json{{"_invalid", text}}.dump();
}

/// Ids of calls as a server can take them back. Some give none, or the same ones in every turn, and then refuse a
/// conversation in which two are equal.
class CallIds {
 public:
  /// Of a call: as it is where it is new.
  std::string of_call(const std::string& id) {
    std::string sent = to_valid_utf8(id);
    while (sent.empty() || !used_.insert(sent).second) sent = made_call_id(++made_);
    open_[id].push_back(sent);
    return sent;
  }

  /// Of an answer: that of the first call of this id that has none.
  std::string of_answer(const std::string& id) {
    auto& calls = open_[id];
    if (calls.empty()) return to_valid_utf8(id);
    std::string sent = std::move(calls.front());
    calls.pop_front();
    return sent;
  }

 private:
  std::set<std::string> used_;
  std::map<std::string, std::deque<std::string>> open_;
  std::size_t made_ = 0;
};

Json message_body(const Message& message, const Dialect& dialect, CallIds& ids) {
  Json body = {{"role", role_name(message.role)}, {"content", to_valid_utf8(message.content)}};
  for (const ToolCall& call : message.tool_calls) {
    body["tool_calls"].push_back(
        {{"id", ids.of_call(call.id)},
         {"type", "function"},
         {"function", {{"name", to_valid_utf8(call.name)}, {"arguments", sendable_arguments(call.arguments)}}}});
  }
  if (!message.tool_calls.empty() && message.content.empty() && !dialect.empty_content) body["content"] = nullptr;
  // Thoughts belong to the calls that came out of them: with those they go back, alone they are refused.
  const Json thoughts = parse_json(message.opaque);
  if (thoughts.is_object() && !message.tool_calls.empty()) body.update(thoughts);
  if (message.role == Role::tool) body["tool_call_id"] = ids.of_answer(message.tool_call_id);
  return body;
}

Json tool_body(const ToolSpec& tool) {
  return {{"type", "function"},
          {"function",
           {{"name", tool.name}, {"description", tool.description}, {"parameters", Json::parse(tool.parameters)}}}};
}

HttpRequest openai_request(const ChatRequest& chat, const jobs::ModelSpec& model, const Dialect& dialect) {
  return {url_below(remote_of(model.api)->endpoint, "/chat/completions"),
          {{"content-type", "application/json"}, {"accept", "application/json"}},
          chat_request_body(chat, model, dialect)};
}

void openai_sign(HttpRequest& request, const jobs::ModelSpec&, const std::string& key, double) {
  if (!key.empty()) request.headers.push_back({"authorization", "Bearer " + key});
}

std::optional<ChatReply> openai_reply(std::string_view body) {
  if (read_failure(body).present) return std::nullopt;
  return parse_chat_response(body);
}

/// What a refusal says of the server's dialect; nothing when it says something else.
std::optional<Dialect> wanted(long status, const ErrorBody& error) {
  if (status != 400 && status != 422 && status != 500) return std::nullopt;
  const auto says = [&](std::string_view words) { return error.message.find(words) != std::string::npos; };
  Dialect dialect;
  dialect.max_completion_tokens = says("max_tokens") && says("max_completion_tokens") && says("nsupported");
  dialect.empty_content = says("NoneType") || (says("content") && (says("null") || says("None")));
  return dialect == Dialect{} ? std::nullopt : std::optional(dialect);
}

WireVerdict openai_verdict(const HttpAnswer& answer) {
  const ErrorBody error = read_failure(answer.body);
  WireVerdict verdict = judge_error(answer, error);
  const bool decided = verdict.fault == WireFault::context_full || verdict.fault == WireFault::refused;
  if (const auto dialect = wanted(answer.status, error); dialect && !decided) {
    verdict.fault = WireFault::adapt;
    verdict.dialect = *dialect;
  }
  return verdict;
}

}  // namespace

Wire wire_of(const jobs::OpenAi&) { return {openai_request, openai_sign, openai_reply, openai_verdict}; }

std::string chat_request_body(const ChatRequest& request, const jobs::ModelSpec& model, const Dialect& dialect) {
  Json body = {{"model", remote_of(model.api)->model}, {"messages", Json::array()}};
  CallIds ids;
  for (const Message& message : request.messages) body["messages"].push_back(message_body(message, dialect, ids));
  for (const ToolSpec& tool : request.tools) body["tools"].push_back(tool_body(tool));
  if (request.seed) body["seed"] = *request.seed;
  if (model.temperature) body["temperature"] = *model.temperature;
  if (model.top_p) body["top_p"] = *model.top_p;
  if (model.max_tokens)
    body[dialect.max_completion_tokens ? "max_completion_tokens" : "max_tokens"] = *model.max_tokens;
  return body.dump();
}

}  // namespace nkigrid::model
