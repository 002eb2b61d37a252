#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/model/wire/wire.hpp"
#include "tests/model/fixtures.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

const Wire kMessages = wire_of(jobs::Anthropic{});

jobs::ModelSpec messages_model(bool cache = false, std::optional<double> temperature = {}) {
  return {.name = "opus",
          .api = jobs::Anthropic{.remote = {.endpoint = "http://h/v1", .model = "claude-x"}, .prompt_cache = cache},
          .temperature = temperature,
          .max_tokens = 900};
}

Json sent_to_messages(const ChatRequest& chat, const jobs::ModelSpec& model = messages_model(), Dialect dialect = {}) {
  return Json::parse(kMessages.request(chat, model, dialect).body);
}

WireVerdict told_by_messages(long status, const std::string& body) {
  return kMessages.verdict({.status = status, .headers = {}, .body = body});
}

ChatRequest opening() {
  ChatRequest chat;
  chat.messages = {{Role::system, "You write kernels.", {}, "", false}, {Role::user, "Task: add.", {}, "", false}};
  chat.tools = {{"compile_kernel", "compiles", R"({"type":"object"})"}};
  chat.seed = 7;
  return chat;
}

TEST(AnthropicRequest, HasTheFormOfMessages) {
  const ChatRequest chat = opening();
  HttpRequest request = kMessages.request(chat, messages_model(false, 0.5), {});
  EXPECT_EQ(request.url, "http://h/v1/messages");
  EXPECT_EQ(Json::parse(request.body), Json::parse(R"({"model":"claude-x","max_tokens":900,"temperature":0.5,
      "system":[{"type":"text","text":"You write kernels."}],
      "messages":[{"role":"user","content":[{"type":"text","text":"Task: add."}]}],
      "tools":[{"name":"compile_kernel","description":"compiles","input_schema":{"type":"object"}}]})"));
  kMessages.sign(request, messages_model(), ApiKey("sk-ant-1"), 0);
  const auto has = [&](const std::string& name, const std::string& value) {
    return std::any_of(request.headers.begin(), request.headers.end(),
                       [&](const auto& header) { return header.name == name && header.value == value; });
  };
  EXPECT_TRUE(has("anthropic-version", "2023-06-01"));
  EXPECT_TRUE(has("x-api-key", "sk-ant-1"));
}

TEST(AnthropicRequest, MarksTheBeginningThatTurnsShare) {
  const Json body = sent_to_messages(opening(), messages_model(true));
  EXPECT_EQ(body["system"][0]["cache_control"]["type"], "ephemeral");
  EXPECT_EQ(body["messages"][0]["content"][0]["cache_control"]["type"], "ephemeral");
}

// A conversation in the shape that the api's documentation shows: thoughts, two calls, both results in one message.
const std::string kThinkingReply = R"({"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[
  {"type":"thinking","thinking":"Tiles of 128 rows.","signature":"EqQBCgIYAhIM"},
  {"type":"redacted_thinking","data":"EmwKAhgBEgy3"},
  {"type":"text","text":"Compiling."},
  {"type":"tool_use","id":"toolu_1","name":"compile_kernel","input":{"kernel_source":"a\nb"}},
  {"type":"tool_use","id":"toolu_2","name":"verify_kernel","input":{}}],
  "stop_reason":"tool_use","usage":{"input_tokens":20,"cache_creation_input_tokens":300,"cache_read_input_tokens":4000,
  "output_tokens":90}})";

TEST(AnthropicReply, IsReadWithThoughtsCallsAndCachedTokens) {
  const auto reply = kMessages.reply(kThinkingReply);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->message.content, "Compiling.");
  EXPECT_EQ(reply->reasoning, "Tiles of 128 rows.");
  ASSERT_EQ(reply->message.tool_calls.size(), 2u);
  EXPECT_EQ(reply->message.tool_calls[0].arguments, R"({"kernel_source":"a\nb"})");
  EXPECT_EQ(reply->finish, Finish::tool_calls);
  EXPECT_EQ(reply->usage.input, 4320u);
  EXPECT_EQ(reply->usage.cached, 4000u);
  EXPECT_EQ(reply->usage.cache_written, 300u);
  EXPECT_EQ(reply->usage.output, 90u);
}

TEST(AnthropicRequest, ThoughtsGoBackAsTheyCameAndResultsStandFirstInOneMessage) {
  ChatRequest chat = opening();
  chat.messages.push_back(kMessages.reply(kThinkingReply)->message);
  chat.messages.push_back({Role::tool, "{\"ok\":false}", {}, "toolu_1", false});
  chat.messages.push_back({Role::tool, "no compiled kernel", {}, "toolu_2", true});
  chat.messages.push_back({Role::user, "Go on.", {}, "", false});
  const Json messages = sent_to_messages(chat)["messages"];
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[1]["content"], Json::parse(kThinkingReply)["content"]);
  EXPECT_EQ(messages[2], Json::parse(R"({"role":"user","content":[
      {"type":"tool_result","tool_use_id":"toolu_1","content":"{\"ok\":false}"},
      {"type":"tool_result","tool_use_id":"toolu_2","content":"no compiled kernel","is_error":true},
      {"type":"text","text":"Go on."}]})"));
}

TEST(AnthropicRequest, ThoughtsOfAReplyWhoseCallsWereReadOtherwiseGoBackAlone) {
  ChatRequest chat = opening();
  Message message = kMessages.reply(kThinkingReply)->message;
  message.tool_calls.pop_back();
  chat.messages.push_back(message);
  chat.messages.push_back({Role::tool, "x", {}, "toolu_1", false});
  const Json content = sent_to_messages(chat)["messages"][1]["content"];
  ASSERT_EQ(content.size(), 4u);
  EXPECT_EQ(content[0]["signature"], "EqQBCgIYAhIM");
  EXPECT_EQ(content[1]["type"], "redacted_thinking");
  EXPECT_EQ(content[2]["text"], "Compiling.");
  EXPECT_EQ(content[3]["input"]["kernel_source"], "a\nb");
}

TEST(AnthropicRequest, AnEmptyReplyIsNoMessageAndSidesTakeTurns) {
  ChatRequest chat = opening();
  chat.messages.push_back({Role::assistant, "", {}, "", false});
  chat.messages.push_back({Role::user, "Say something.", {}, "", false});
  const Json messages = sent_to_messages(chat)["messages"];
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0]["content"].size(), 2u);
}

TEST(AnthropicRequest, BlocksOfNothingButSpacesStayAtHome) {
  ChatRequest chat = opening();
  const auto said = [](const char* blocks) {
    return kMessages.reply(R"({"content":)" + std::string(blocks) + R"(,"stop_reason":"tool_use","usage":{}})")
        ->message;
  };
  chat.messages.push_back(
      said(R"([{"type":"text","text":"\n\n"},{"type":"tool_use","id":"a","name":"f","input":{}}])"));
  chat.messages.push_back({Role::tool, "x", {}, "a", false});
  chat.messages.push_back(said(R"([{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"\n"},
      {"type":"tool_use","id":"b","name":"f","input":{}}])"));
  const Json messages = sent_to_messages(chat)["messages"];
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(messages[1]["content"].size(), 1u);
  EXPECT_EQ(messages[3]["content"].size(), 2u);
  EXPECT_EQ(messages[3]["content"][1]["type"], "tool_use");
}

TEST(AnthropicRequest, AReplyOfNothingButSpacesIsNoMessage) {
  ChatRequest chat = opening();
  chat.messages.push_back({Role::assistant, "\n\n", {}, "", false});
  chat.messages.push_back({Role::user, "Say something.", {}, "", false});
  EXPECT_EQ(sent_to_messages(chat)["messages"].size(), 1u);
}

TEST(AnthropicReply, TwoToolsOfOneTurnAreOneReply) {
  const auto reply = kMessages.reply(test::case_json("05_anthropic_two_tools_one_turn.json").dump());
  ASSERT_TRUE(reply);
  ASSERT_EQ(reply->message.tool_calls.size(), 2u);
  EXPECT_EQ(reply->message.tool_calls[0].id, "toolu_x1");
  EXPECT_EQ(reply->message.tool_calls[1].id, "toolu_x2");
}

TEST(AnthropicReply, ReasonsToStopAreTold) {
  const auto finish = [](const std::string& reason) {
    return kMessages.reply(R"({"content":[{"type":"text","text":"x"}],"stop_reason":")" + reason + "\"}")->finish;
  };
  EXPECT_EQ(finish("end_turn"), Finish::stop);
  EXPECT_EQ(finish("max_tokens"), Finish::length);
  EXPECT_EQ(finish("model_context_window_exceeded"), Finish::length);
  EXPECT_EQ(finish("refusal"), Finish::refused);
  EXPECT_EQ(finish("pause_turn"), Finish::stop);
}

TEST(AnthropicReply, ACallThatALimitCutDoesNotReadAsWhole) {
  const auto reply = kMessages.reply(
      R"({"content":[{"type":"tool_use","id":"t","name":"compile_kernel","input":{"kernel_source":"import ne"}}],)"
      R"("stop_reason":"max_tokens"})");
  EXPECT_FALSE(Json::parse(reply->message.tool_calls[0].arguments, nullptr, false).is_object());
}

TEST(AnthropicReply, WhatIsNoMessageIsCorruptAndAnErrorIsNone) {
  for (const std::string cut : {"", "{", "<html>", R"({"type":"message"})", kThinkingReply.substr(0, 200).c_str()})
    EXPECT_THROW(kMessages.reply(cut), Error) << cut;
  EXPECT_FALSE(kMessages.reply(R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})"));
}

TEST(AnthropicFaults, AreToldApart) {
  const auto error = [](const std::string& type, const std::string& message) {
    return Json{{"type", "error"}, {"error", {{"type", type}, {"message", message}}}}.dump();
  };
  EXPECT_EQ(told_by_messages(529, error("overloaded_error", "Overloaded")).fault, WireFault::retry);
  EXPECT_EQ(told_by_messages(500, error("api_error", "Internal server error")).fault, WireFault::retry);
  EXPECT_EQ(told_by_messages(429, error("rate_limit_error", "This request would exceed the limit")).fault,
            WireFault::retry);
  EXPECT_EQ(told_by_messages(401, error("authentication_error", "invalid x-api-key")).fault, WireFault::fatal);
  EXPECT_EQ(told_by_messages(402, error("billing_error", "no credit")).fault, WireFault::fatal);
  EXPECT_EQ(told_by_messages(400, error("invalid_request_error", "messages: roles must alternate")).fault,
            WireFault::fatal);
  for (const std::string words : {"prompt is too long: 215000 tokens > 200000 maximum",
                                  "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"})
    EXPECT_EQ(told_by_messages(400, error("invalid_request_error", words)).fault, WireFault::context_full) << words;
  EXPECT_EQ(told_by_messages(413, error("request_too_large", "Request exceeds the maximum size")).fault,
            WireFault::context_full);
}

TEST(AnthropicFaults, AModelThatTakesNoTemperatureIsAskedWithout) {
  const auto verdict =
      told_by_messages(400, R"({"type":"error","error":{"message":"`temperature` is deprecated for this model."}})");
  EXPECT_EQ(verdict.fault, WireFault::adapt);
  EXPECT_EQ(verdict.dialect, (Dialect{.no_temperature = true}));
  EXPECT_FALSE(sent_to_messages(opening(), messages_model(false, 0.5), verdict.dialect).contains("temperature"));
  EXPECT_EQ(left_out(verdict.dialect, messages_model(false, 0.5)), "temperature");
  EXPECT_EQ(left_out(verdict.dialect, messages_model()), "");
  // A value that is out of range is the grid's mistake.
  EXPECT_EQ(
      told_by_messages(400, R"({"error":{"message":"temperature: Input should be less than or equal to 1"}})").fault,
      WireFault::fatal);
}

TEST(AnthropicStream, IsReadAsTheWholeMessage) {
  const std::string stream = R"(event: message_start
data: {"type":"message_start","message":{"role":"assistant","content":[],"usage":{"input_tokens":25,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Tiles"}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB"}}

data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}}

data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}

data: {"type":"ping"}

data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":" 1}"}}

data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":15}}

)";
  const auto reply = kMessages.reply(stream + "data: {\"type\":\"message_stop\"}\n\n");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->reasoning, "Tiles");
  EXPECT_EQ(reply->message.tool_calls.at(0).arguments, R"({"a":1})");
  EXPECT_EQ(Json::parse(reply->message.opaque)[0]["signature"], "EqQB");
  EXPECT_EQ(reply->usage.input, 25u);
  EXPECT_EQ(reply->usage.output, 15u);
  EXPECT_THROW(kMessages.reply(stream), Error);
  EXPECT_FALSE(kMessages.reply(stream + R"(data: {"type":"error","error":{"type":"overloaded_error","message":"x"}})"));
}

}  // namespace
}  // namespace nkigrid::model
