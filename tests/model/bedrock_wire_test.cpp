#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/model/wire/wire.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

const Wire kConverse = wire_of(jobs::Bedrock{});

jobs::ModelSpec converse_model(bool cache = false) {
  jobs::Bedrock api;
  api.remote.endpoint = "https://bedrock-runtime.us-west-2.amazonaws.com";
  api.remote.model = "anthropic.claude-x-v1:0";
  api.region = "us-west-2";
  api.prompt_cache = cache;
  return {.name = "opus", .api = api, .temperature = 0.5, .top_p = 0.9, .max_tokens = 900};
}

WireVerdict told_by_converse(long status, const std::string& type, const std::string& message) {
  return kConverse.verdict({.status = status,
                            .headers = {{"x-amzn-errortype", type + ":http://internal.amazon.com/"}},
                            .body = Json{{"message", message}}.dump()});
}

// The shape of Converse's documentation.
const std::string kToolUse = R"({"output":{"message":{"role":"assistant","content":[
  {"reasoningContent":{"reasoningText":{"text":"Tiles.","signature":"EqQB"}}},
  {"text":"Compiling."},
  {"toolUse":{"toolUseId":"tooluse_1","name":"compile_kernel","input":{"kernel_source":"x"}}}]}},
  "stopReason":"tool_use","usage":{"inputTokens":10,"outputTokens":5,"totalTokens":15,"cacheReadInputTokens":7,
  "cacheWriteInputTokens":2},"metrics":{"latencyMs":1}})";

TEST(BedrockRequest, HasTheFormOfConverse) {
  ChatRequest chat;
  chat.messages = {{Role::system, "s", {}, "", false}, {Role::user, "u", {}, "", false}};
  chat.tools = {{"f", "d", R"({"type":"object"})"}};
  const HttpRequest request = kConverse.request(chat, converse_model(), {});
  EXPECT_EQ(request.url, "https://bedrock-runtime.us-west-2.amazonaws.com/model/anthropic.claude-x-v1%3A0/converse");
  EXPECT_EQ(Json::parse(request.body), Json::parse(R"({"system":[{"text":"s"}],
      "messages":[{"role":"user","content":[{"text":"u"}]}],
      "inferenceConfig":{"maxTokens":900,"temperature":0.5,"topP":0.9},
      "toolConfig":{"tools":[{"toolSpec":
        {"name":"f","description":"d","inputSchema":{"json":{"type":"object"}}}}]}})"));
  const Json cached = Json::parse(kConverse.request(chat, converse_model(true), {}).body);
  EXPECT_EQ(cached["system"][1]["cachePoint"]["type"], "default");
  EXPECT_EQ(cached["messages"][0]["content"][1]["cachePoint"]["type"], "default");
}

TEST(BedrockReply, IsReadAndGoesBackAsItCame) {
  const auto reply = kConverse.reply(kToolUse);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->message.content, "Compiling.");
  EXPECT_EQ(reply->reasoning, "Tiles.");
  EXPECT_EQ(reply->message.tool_calls.at(0).arguments, R"({"kernel_source":"x"})");
  EXPECT_EQ(reply->usage.input, 19u);
  EXPECT_EQ(reply->usage.cached, 7u);
  ChatRequest chat;
  chat.messages = {{Role::user, "u", {}, "", false}, reply->message, {Role::tool, "bad", {}, "tooluse_1", true}};
  const Json messages = Json::parse(kConverse.request(chat, converse_model(), {}).body)["messages"];
  EXPECT_EQ(messages[1]["content"], Json::parse(kToolUse)["output"]["message"]["content"]);
  EXPECT_EQ(messages[2]["content"][0], Json::parse(R"({"toolResult":{"toolUseId":"tooluse_1","status":"error",
      "content":[{"text":"bad"}]}})"));
}

TEST(BedrockRequest, BlocksOfNothingButSpacesStayAtHome) {
  Json said = Json::parse(kToolUse);
  said["output"]["message"]["content"].push_back({{"text", "\n\n"}});
  ChatRequest chat;
  chat.messages = {{Role::user, "u", {}, "", false},
                   kConverse.reply(said.dump())->message,
                   {Role::tool, "x", {}, "tooluse_1", false}};
  const Json messages = Json::parse(kConverse.request(chat, converse_model(), {}).body)["messages"];
  EXPECT_EQ(messages[1]["content"], Json::parse(kToolUse)["output"]["message"]["content"]);
}

TEST(BedrockReply, ReasonsToStopAreTold) {
  const auto finish = [](const std::string& reason) {
    return kConverse.reply(R"({"output":{"message":{"content":[{"text":"x"}]}},"stopReason":")" + reason + "\"}")
        ->finish;
  };
  EXPECT_EQ(finish("end_turn"), Finish::stop);
  EXPECT_EQ(finish("max_tokens"), Finish::length);
  EXPECT_EQ(finish("guardrail_intervened"), Finish::refused);
  EXPECT_EQ(finish("content_filtered"), Finish::refused);
  for (const std::string cut : {"", "{", R"({"output":{}})"}) EXPECT_THROW(kConverse.reply(cut), Error) << cut;
}

TEST(BedrockFaults, NameThemselvesInAHeader) {
  EXPECT_EQ(told_by_converse(429, "ThrottlingException", "Too many tokens, please wait").fault, WireFault::retry);
  EXPECT_EQ(told_by_converse(400, "ThrottlingException", "Rate exceeded").fault, WireFault::retry);
  EXPECT_EQ(told_by_converse(429, "ModelNotReadyException", "x").fault, WireFault::retry);
  EXPECT_EQ(told_by_converse(408, "ModelTimeoutException", "x").fault, WireFault::retry);
  EXPECT_EQ(told_by_converse(503, "ServiceUnavailableException", "x").fault, WireFault::retry);
  EXPECT_EQ(told_by_converse(403, "ExpiredTokenException", "The security token has expired").fault, WireFault::fatal);
  EXPECT_EQ(told_by_converse(400, "ValidationException", "The model id is invalid").fault, WireFault::fatal);
  EXPECT_EQ(told_by_converse(400, "ValidationException", "Input is too long for requested model.").fault,
            WireFault::context_full);
}

TEST(BedrockSign, GoesByBearerKeyOrBySignature) {
  const auto proof = [](const ApiKey& key) {
    HttpRequest request = kConverse.request({.messages = {{Role::user, "u", {}, "", false}}}, converse_model(), {});
    kConverse.sign(request, converse_model(), key, 1796042096);
    return request.headers.back();
  };
  EXPECT_EQ(proof(ApiKey("bedrock-api-key-1")).value, "Bearer bedrock-api-key-1");
  ApiKey keys;
  keys.aws = {"AKIDEXAMPLE", "secret", "token"};
  const auto signature = proof(keys);
  EXPECT_EQ(signature.name, "authorization");
  EXPECT_NE(signature.value.find("Credential=AKIDEXAMPLE/20261130/us-west-2/bedrock/aws4_request, "
                                 "SignedHeaders=accept;content-type;host;x-amz-date;x-amz-security-token"),
            std::string::npos);
  EXPECT_EQ(signature.value.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace nkigrid::model
