#include <algorithm>
#include <array>
#include <cctype>

#include <nlohmann/json.hpp>

#include "jobs/base/text.hpp"
#include "runner/model/json_text.hpp"
#include "runner/model/wire/faults.hpp"
#include "runner/model/wire/fields.hpp"
#include "runner/model/wire/openai.hpp"
#include "runner/model/wire/request.hpp"
#include "runner/model/wire/sigv4.hpp"
#include "runner/model/wire/wire.hpp"

/// Converse. @source docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

std::vector<std::string> tool_use_ids(const Json& blocks) {
  std::vector<std::string> ids;
  for (const Json& block : blocks)
    if (block.contains("toolUse")) ids.push_back(text_or_empty(block["toolUse"], "toolUseId"));
  return ids;
}

bool is_reasoning(const Json& block) { return block.is_object() && block.contains("reasoningContent"); }

/// Replies hold such blocks; sent back they are refused.
bool is_blank_block(const Json& block) {
  return block.is_object() && block.contains("text") && is_blank(text_or_empty(block, "text"));
}

/// An earlier reply: its blocks as they came, signatures and all, when they hold the very calls that are answered; else
/// its thoughts alone.
void add_reply_blocks(Json& content, const Message& message, CallIds& ids) {
  std::vector<std::string> sent;
  for (const ToolCall& call : message.tool_calls) sent.push_back(ids.of_call(call.id));
  const Json came = parse_json(message.opaque);
  if (came.is_array() && tool_use_ids(came) == sent) {
    std::remove_copy_if(came.begin(), came.end(), std::back_inserter(content), is_blank_block);
    return;
  }
  if (came.is_array()) std::copy_if(came.begin(), came.end(), std::back_inserter(content), is_reasoning);
  if (!is_blank(message.content)) content.push_back({{"text", to_valid_utf8(message.content)}});
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const ToolCall& call = message.tool_calls[i];
    content.push_back({{"toolUse",
                        {{"toolUseId", sent[i]},
                         {"name", sendable_name(call.name)},
                         {"input", sendable_arguments(call.arguments)}}}});
  }
}

void add_user_block(Json& content, const Message& message, CallIds& ids) {
  const std::string text = to_valid_utf8(message.content);
  if (message.role != Role::tool) {
    content.push_back({{"text", text}});
    return;
  }
  Json result = {{"toolUseId", ids.of_answer(message.tool_call_id)}, {"content", Json::array({{{"text", text}}})}};
  if (message.is_error) result["status"] = "error";
  content.push_back({{"toolResult", result}});
}

Json converse_messages(const std::vector<Message>& messages) {
  Json list = Json::array();
  CallIds ids;
  for (const Side& side : sides_of(messages)) {
    Json content = Json::array();
    for (const Message* message : side.messages)
      side.assistant ? add_reply_blocks(content, *message, ids) : add_user_block(content, *message, ids);
    list.push_back({{"role", side.assistant ? "assistant" : "user"}, {"content", content}});
  }
  return list;
}

Json inference_config(const jobs::ModelSpec& model, const Dialect& dialect) {
  Json config = Json::object();
  if (model.max_tokens) config["maxTokens"] = *model.max_tokens;
  if (model.temperature && !dialect.no_temperature) config["temperature"] = *model.temperature;
  if (model.top_p && !dialect.no_top_p) config["topP"] = *model.top_p;
  return config;
}

void add_tools(Json& body, const std::vector<ToolSpec>& tools) {
  for (const ToolSpec& tool : tools) {
    body["toolConfig"]["tools"].push_back({{"toolSpec",
                                            {{"name", tool.name},
                                             {"description", tool.description},
                                             {"inputSchema", {{"json", Json::parse(tool.parameters)}}}}}});
  }
}

HttpRequest bedrock_request(const ChatRequest& chat, const jobs::ModelSpec& model, const Dialect& dialect) {
  const auto& api = std::get<jobs::Bedrock>(model.api);
  Json body = {{"messages", converse_messages(chat.messages)}};
  if (const std::string text = system_text(chat.messages); !text.empty())
    body["system"] = Json::array({{{"text", text}}});
  if (const Json config = inference_config(model, dialect); !config.empty()) body["inferenceConfig"] = config;
  add_tools(body, chat.tools);
  if (api.prompt_cache) {
    const Json mark = {{"cachePoint", {{"type", "default"}}}};
    if (body.contains("system")) body["system"].push_back(mark);
    if (!body["messages"].empty()) body["messages"].back()["content"].push_back(mark);
  }
  return post_json(api.remote, "/model/" + percent_encoded(api.remote.model) + "/converse", std::move(body));
}

void bedrock_sign(HttpRequest& request, const jobs::ModelSpec& model, const ApiKey& key, double now) {
  if (!key.value.empty() || key.aws.access_id.empty()) return bearer_sign(request, model, key, now);
  const AwsScope scope = {std::get<jobs::Bedrock>(model.api).region, "bedrock"};
  for (auto& header : signature_v4("POST", request, key.aws, scope, now)) request.headers.push_back(std::move(header));
}

void read_content(ChatReply& reply, const Json& block) {
  if (!block.is_object()) return;
  reply.message.content += text_or_empty(block, "text");
  if (block.contains("reasoningContent") && block["reasoningContent"].is_object())
    reply.reasoning += text_or_empty(block["reasoningContent"].value("reasoningText", Json()), "text");
  if (!block.contains("toolUse") || !block["toolUse"].is_object()) return;
  const Json& call = block["toolUse"];
  const Json input = call.value("input", Json::object());
  reply.message.tool_calls.push_back({text_or_empty(call, "toolUseId"), text_or_empty(call, "name"),
                                      input.is_string() ? input.get<std::string>() : input.dump()});
}

Finish finish_of_converse(const std::string& reason, const Message& message) {
  if (reason == "guardrail_intervened" || reason == "content_filtered") return Finish::refused;
  if (reason == "max_tokens" || reason == "model_context_window_exceeded") return Finish::length;
  return message.tool_calls.empty() ? Finish::stop : Finish::tool_calls;
}

Usage usage_of_converse(const Json& body) {
  const Json usage = body.value("usage", Json());
  Usage counted;
  counted.cached = count_or_zero(usage, "cacheReadInputTokens");
  counted.cache_written = count_or_zero(usage, "cacheWriteInputTokens");
  counted.input = count_or_zero(usage, "inputTokens") + counted.cached + counted.cache_written;
  counted.output = count_or_zero(usage, "outputTokens");
  return counted;
}

/// What a limit cut reads as whole, for the service closes its braces: one is taken away again.
void open_cut_tool_use(ChatReply& reply, const Json& blocks) {
  const bool cut = reply.finish == Finish::length && !blocks.empty() && blocks.back().contains("toolUse");
  if (cut && !reply.message.tool_calls.empty()) reply.message.tool_calls.back().arguments.pop_back();
}

std::optional<ChatReply> read_bedrock(std::string_view bytes) {
  const MendedJson mended = mend_json(bytes);
  const Json body = parse_json(mended.text);
  if (!body.is_object() || !body.contains("output")) {
    if (read_error(bytes).present) return std::nullopt;
    throw Error(ErrorCode::corrupt, "the response holds no output: it is cut, or no answer of Converse");
  }
  const Json message = body["output"].is_object() ? body["output"].value("message", Json()) : Json();
  if (!message.is_object() || !message.contains("content") || !message["content"].is_array())
    throw Error(ErrorCode::corrupt, "the response holds no message");
  const Json& blocks = message["content"];
  ChatReply reply;
  reply.message.role = Role::assistant;
  for (const Json& block : blocks) read_content(reply, block);
  if (std::any_of(blocks.begin(), blocks.end(), is_reasoning)) reply.message.opaque = blocks.dump();
  reply.finish = finish_of_converse(text_or_empty(body, "stopReason"), reply.message);
  open_cut_tool_use(reply, blocks);
  reply.usage = usage_of_converse(body);
  reply.mended = mended.mended;
  return reply;
}

/// Errors name themselves in a header, "ThrottlingException:http://...", or in the body, "com.amazon...#Throttling...".
std::string error_name(const HttpAnswer& answer, const ErrorBody& error) {
  const auto header = answer.headers.find("x-amzn-errortype");
  std::string name = header != answer.headers.end() ? header->second.substr(0, header->second.find(':')) : error.type;
  return name.substr(name.rfind('#') + 1);
}

/// Those that may pass, whatever status they come with: throttling comes as 400, too.
bool may_pass(std::string name) {
  constexpr std::array<std::string_view, 7> kPassing = {
      "throttlingexception",     "modelnotreadyexception", "serviceunavailableexception", "modeltimeoutexception",
      "internalserverexception", "modelerrorexception",    "modelstreamerrorexception"};
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::find(kPassing.begin(), kPassing.end(), name) != kPassing.end();
}

std::optional<ChatReply> bedrock_reply(std::string_view bytes) { return read_or_corrupt(bytes, read_bedrock); }

WireVerdict bedrock_verdict(const HttpAnswer& answer) {
  ErrorBody error = read_error(answer.body);
  const std::string name = error_name(answer, error);
  WireVerdict verdict = judge_error(answer, error);
  if (!name.empty()) verdict.message += " (" + name + ")";
  if (may_pass(name)) {
    verdict.fault = WireFault::retry;
    return verdict;
  }
  return adapted(std::move(verdict), answer.status, error);
}

}  // namespace

Wire wire_of(const jobs::Bedrock&) { return {bedrock_request, bedrock_sign, bedrock_reply, bedrock_verdict}; }

}  // namespace nkigrid::model
