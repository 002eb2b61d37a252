#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/model/wire/wire.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

const jobs::OpenAi kApi = {
    .remote = {.endpoint = "http://h/v1", .model = "o9", .body = R"({"reasoning":{"effort":"low"}})"},
    .form = jobs::OpenAi::Form::responses};
const Wire kResponses = wire_of(kApi);

jobs::ModelSpec responses_model() { return {.name = "o9", .api = kApi, .max_tokens = 500}; }

// The shape of the interface's documentation.
const std::string kCalls = R"({"id":"resp_1","object":"response","status":"completed","output":[
  {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Tiles."}],"encrypted_content":"gAAAA"},
  {"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Now."}]},
  {"type":"function_call","id":"fc_1","call_id":"call_1","name":"compile_kernel","arguments":"{\"a\":1}"}],
  "usage":{"input_tokens":50,"input_tokens_details":{"cached_tokens":40},"output_tokens":9}})";

TEST(ResponsesWire, AsksForNothingToBeKeptAndAddsTheGridsBody) {
  ChatRequest chat;
  chat.messages = {{Role::system, "s", {}, "", false}, {Role::user, "u", {}, "", false}};
  chat.tools = {{"f", "d", R"({"type":"object"})"}};
  const HttpRequest request = kResponses.request(chat, responses_model(), {});
  EXPECT_EQ(request.url, "http://h/v1/responses");
  EXPECT_EQ(Json::parse(request.body),
            Json::parse(R"({"model":"o9","store":false,"include":["reasoning.encrypted_content"],
      "reasoning":{"effort":"low"},"max_output_tokens":500,
      "input":[{"role":"system","content":"s"},{"role":"user","content":"u"}],
      "tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"},"strict":false}]})"));
}

TEST(ResponsesWire, ReadsItemsAndSendsThemBack) {
  const auto reply = kResponses.reply(kCalls);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->message.content, "Now.");
  EXPECT_EQ(reply->reasoning, "Tiles.");
  EXPECT_EQ(reply->finish, Finish::tool_calls);
  EXPECT_EQ(reply->usage.cached, 40u);
  ChatRequest chat;
  chat.messages = {reply->message, {Role::tool, "done", {}, "call_1", false}};
  const Json input = Json::parse(kResponses.request(chat, responses_model(), {}).body)["input"];
  ASSERT_EQ(input.size(), 4u);
  EXPECT_EQ(input[0]["encrypted_content"], "gAAAA");
  EXPECT_EQ(input[3], Json::parse(R"({"type":"function_call_output","call_id":"call_1","output":"done"})"));
}

TEST(ResponsesWire, TellsHowAResponseEnded) {
  const auto body = [](const std::string& more) { return "{\"output\":[]," + more + "}"; };
  EXPECT_EQ(
      kResponses.reply(body(R"("status":"incomplete","incomplete_details":{"reason":"max_output_tokens"})"))->finish,
      Finish::length);
  EXPECT_EQ(kResponses.reply(body(R"("status":"incomplete","incomplete_details":{"reason":"content_filter"})"))->finish,
            Finish::refused);
  const std::string failed = body(R"("status":"failed","error":{"code":"server_error","message":"x"})");
  EXPECT_FALSE(kResponses.reply(failed));
  EXPECT_EQ(kResponses.verdict({.status = 200, .headers = {}, .body = failed}).fault, WireFault::retry);
  EXPECT_THROW(kResponses.reply(body(R"("status":"in_progress")")), Error);
  EXPECT_THROW(kResponses.reply("{"), Error);
  EXPECT_EQ(
      kResponses
          .reply(
              R"({"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]})")
          ->finish,
      Finish::refused);
}

TEST(ResponsesWire, AStreamsLastEventHoldsTheWhole) {
  const std::string stream =
      "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"status\":"
      "\"in_progress\",\"output\":[]}}\n\nevent: response.completed\ndata: "
      "{\"type\":\"response.completed\",\"response\":" +
      Json::parse(kCalls).dump() + "}\n\n";
  EXPECT_EQ(kResponses.reply(stream)->message.content, "Now.");
  EXPECT_THROW(kResponses.reply(stream.substr(0, stream.find("event: response.completed"))), Error);
}

TEST(ResponsesWire, AStreamThatFailsSaysWhyAsAPlainBodyDoes) {
  const auto fault = [](const std::string& error) {
    const std::string response = R"({"status":"failed","output":[],"error":)" + error + "}";
    const std::string stream =
        "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"status\":"
        "\"in_progress\"}}\n\nevent: response.failed\ndata: {\"type\":\"response.failed\","
        "\"response\":" +
        response + "}\n\n";
    EXPECT_FALSE(kResponses.reply(stream));
    const auto of_stream = kResponses.verdict({.status = 200, .headers = {}, .body = stream});
    const auto of_plain = kResponses.verdict({.status = 200, .headers = {}, .body = response});
    EXPECT_EQ(of_stream.message, of_plain.message);
    EXPECT_EQ(of_stream.fault, of_plain.fault);
    return of_stream.fault;
  };
  EXPECT_EQ(fault(R"({"code":"context_length_exceeded","message":"Your input is too long."})"),
            WireFault::context_full);
  EXPECT_EQ(fault(R"({"code":"server_error","message":"x"})"), WireFault::retry);
  EXPECT_EQ(fault(R"({"code":"insufficient_quota","message":"x"})"), WireFault::fatal);
  EXPECT_EQ(fault("null"), WireFault::retry);
}

}  // namespace
}  // namespace nkigrid::model
