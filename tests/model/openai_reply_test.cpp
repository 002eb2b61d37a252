#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runner/model/json_text.hpp"
#include "runner/model/wire/openai.hpp"
#include "runner/model/wire/openai_reply.hpp"

namespace nkigrid::model {
namespace {

std::optional<ChatReply> heard(const std::string& body) { return wire_of(jobs::OpenAi{}).reply(body); }

const std::string kHi = R"({"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]})";

TEST(OpenAiReply, WrappersOfGatewaysAreNoErrors) {
  EXPECT_EQ(heard(R"({"code":0,"message":"Success","sid":"x","error":null,)" + kHi.substr(1))->message.content, "hi");
  EXPECT_EQ(heard(R"({"error":{},)" + kHi.substr(1))->message.content, "hi");
  EXPECT_EQ(heard("\xef\xbb\xbf" + kHi)->message.content, "hi");
  EXPECT_FALSE(heard(R"({"error":{"message":"overloaded"},)" + kHi.substr(1)).has_value());
  EXPECT_FALSE(heard(R"({"code":1,"message":"no such model"})").has_value());
}

TEST(OpenAiReply, AReplyThatBrokeOffIsNoReplyOfTheModel) {
  for (const std::string word : {"error", "abort"}) {
    const std::string body = R"({"choices":[{"finish_reason":")" + word +
                             R"(","message":{"content":"```python\nimport"},"error":{"code":502,"message":"gone"}}]})";
    EXPECT_FALSE(heard(body).has_value());
    const WireVerdict verdict = wire_of(jobs::OpenAi{}).verdict({.status = 200, .body = body});
    EXPECT_EQ(verdict.fault, WireFault::retry);
    EXPECT_NE(verdict.message.find("gone"), std::string::npos);
  }
}

TEST(OpenAiReply, NoTokenAfterALongPromptIsAFullContext) {
  const auto fault_of = [](const std::string& content, const std::string& usage) {
    const std::string body =
        R"({"choices":[{"finish_reason":"stop","message":{"content":)" + content + R"(}}],"usage":)" + usage + "}";
    return heard(body) ? std::nullopt
                       : std::optional(wire_of(jobs::OpenAi{}).verdict({.status = 200, .body = body}).fault);
  };
  EXPECT_EQ(fault_of("\"\"", R"({"prompt_tokens":32768,"completion_tokens":0})"), WireFault::context_full);
  EXPECT_EQ(fault_of("null", R"({"prompt_tokens":32768,"completion_tokens":0})"), WireFault::context_full);
  EXPECT_EQ(fault_of("\"\"", R"({"prompt_tokens":32768,"completion_tokens":1})"), std::nullopt);
  EXPECT_EQ(fault_of("\"\"", R"({"prompt_tokens":700,"completion_tokens":0})"), WireFault::retry) << "not the model's";
  EXPECT_EQ(fault_of("\"\"", "null"), std::nullopt);
}

std::vector<ToolCall> calls_in(const std::string& message) {
  return parse_chat_response(R"({"choices":[{"message":)" + message + "}]}").value().message.tool_calls;
}

TEST(OpenAiReply, CallsComeInManyShapes) {
  const auto old = calls_in(R"({"content":null,"function_call":{"name":"f","arguments":"{}"}})");
  ASSERT_EQ(old.size(), 1u);
  EXPECT_EQ(old[0].name, "f");
  const auto calls = calls_in(R"({"content":null,"tool_calls":[
      {"function":{"name":"f<|channel|>commentary","arguments":{"n":1}}},
      {"id":"a","function":{"name":"g","arguments":null}},
      {"id":"a","function":{"name":"h","arguments":"{}"}}, 7, {"id":"b"}]})");
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].id, "call00001");
  EXPECT_EQ(calls[0].name, "f");
  EXPECT_EQ(calls[0].arguments, R"({"n":1})");
  EXPECT_EQ(calls[1].id, "a");
  EXPECT_EQ(calls[1].arguments, "");
  EXPECT_EQ(calls[2].id, "call00003");
}

TEST(OpenAiReply, CountsMayBeFloatsTextsOrNothing) {
  const auto usage_of = [](const std::string& usage) {
    return parse_chat_response(kHi.substr(0, kHi.size() - 1) + R"(,"usage":)" + usage + "}").value().usage;
  };
  EXPECT_EQ(usage_of(R"({"prompt_tokens":12.0,"completion_tokens":"34"})").input, 12u);
  EXPECT_EQ(usage_of(R"({"prompt_tokens":12.0,"completion_tokens":"34"})").output, 34u);
  EXPECT_EQ(usage_of("null").input, 0u);
  EXPECT_EQ(usage_of(R"({"prompt_tokens":null,"completion_tokens":-1,"prompt_tokens_details":null})").output, 0u);
}

const std::string kStream =
    ": comment\n\n"
    R"(data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"I "},"finish_reason":null}]})"
    "\n\n"
    R"(data: {"choices":[{"index":0,"delta":{"content":"see","reasoning_content":"hm"}}]})"
    "\r\n\r\n"
    R"(data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1",)"
    R"("function":{"name":"f","arguments":"{\"a\":"}}]}}]})"
    "\n\n"
    R"(data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]})"
    "\n\n"
    R"(data: {"choices":[{"delta":{"tool_calls":[{"index":1,"id":"c2",)"
    R"("function":{"name":"g","arguments":{}}}]},"finish_reason":"tool_calls"}]})"
    "\n\n"
    R"(data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":6}})"
    "\n\n";

TEST(OpenAiReply, AStreamThatNobodyAskedForIsJoined) {
  const auto reply = heard(kStream + "data: [DONE]\n\n");
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->message.content, "I see");
  EXPECT_EQ(reply->reasoning, "hm");
  ASSERT_EQ(reply->message.tool_calls.size(), 2u);
  EXPECT_EQ(reply->message.tool_calls[0].arguments, R"({"a":1})");
  EXPECT_EQ(reply->message.tool_calls[1].name, "g");
  EXPECT_EQ(reply->finish, Finish::tool_calls);
  EXPECT_EQ(reply->usage.output, 6u);
}

TEST(OpenAiReply, ACutOrBrokenStreamIsNoReply) {
  EXPECT_THROW(heard(kStream.substr(0, kStream.find("\"finish_reason\":\"tool"))), Error);
  EXPECT_FALSE(heard(kStream + "event: error\ndata: {\"error\":{\"message\":\"overloaded\"}}\n\n").has_value());
}

TEST(RelaxedJson, MendsWhatModelsWriteAndNothingElse) {
  const auto read = [](const std::string& text) { return nlohmann::json::parse(relaxed_json(text), nullptr, false); };
  EXPECT_EQ(read("{\"s\": \"a\nb\tc\", \"n\": [1, 2,], }"), (nlohmann::json{{"s", "a\nb\tc"}, {"n", {1, 2}}}));
  EXPECT_EQ(read(R"({'s': 'it\'s "x"', 't': True, 'u': None})"),
            (nlohmann::json{{"s", "it's \"x\""}, {"t", true}, {"u", nullptr}}));
  const std::string whole = R"({"s":"True, None, 'x',}","n":1.5e3})";
  EXPECT_EQ(relaxed_json(whole), whole);
  EXPECT_TRUE(read(R"({"s": "cut)").is_discarded());
  EXPECT_EQ(read("{s: 1, t\": 2,, // x\n 'u': r'\\d'}"), (nlohmann::json{{"s", 1}, {"t", 2}, {"u", "\\d"}}));
  EXPECT_TRUE(read("{s: t}").is_discarded());
  EXPECT_TRUE(read("").is_discarded());
}

}  // namespace
}  // namespace nkigrid::model
