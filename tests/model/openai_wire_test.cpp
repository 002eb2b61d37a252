#include <gtest/gtest.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "runner/model/chat_json.hpp"
#include "runner/model/wire/faults.hpp"
#include "runner/model/wire/openai.hpp"
#include "runner/model/wire/openai_reply.hpp"
#include "runner/model/wire/openai_server.hpp"
#include "tests/model/fixtures.hpp"

namespace nkigrid::model {
namespace {

using namespace std::string_literals;
using Json = nlohmann::json;

Headers headers_of(const Json& json) {
  Headers headers;
  for (const auto& [name, value] : json.items()) {
    std::string lower = name;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    headers[lower] = value.get<std::string>();
  }
  return headers;
}

jobs::ModelSpec spec_of(const std::string& model, std::optional<double> temperature = {},
                        std::optional<double> top_p = {}, std::optional<std::uint32_t> max_tokens = {}) {
  return {.api = jobs::OpenAi{.remote = {.endpoint = "http://h/v1/", .model = model}},
          .temperature = temperature,
          .top_p = top_p,
          .max_tokens = max_tokens};
}

/// With a retry limit of 900 s.
WireVerdict verdict_of(long status, const Headers& headers, const std::string& body) {
  return within(wire_of(jobs::OpenAi{}).verdict({.status = status, .headers = headers, .body = body}), Seconds(900));
}

std::string chat_request_body(const ChatRequest& chat, const jobs::ModelSpec& model, const Dialect& dialect = {}) {
  return wire_of(jobs::OpenAi{}).request(chat, model, dialect).body;
}

std::string body_of(const Json& json) { return json.is_string() ? json.get<std::string>() : json.dump(); }

TEST(OpenAiRequest, HoldsOnlyTheParametersThatAreSet) {
  ChatRequest request;
  request.messages = {{Role::system, "s", {}, "", false}, {Role::user, "u", {}, "", false}};
  const Json bare = Json::parse(chat_request_body(request, spec_of("m")));
  EXPECT_EQ(bare,
            Json::parse(R"({"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}]})"));
  request.seed = 7;
  const Json full = Json::parse(chat_request_body(request, spec_of("m", 0.7, 0.9, 100)));
  EXPECT_EQ(full["seed"], 7);
  EXPECT_EQ(full["temperature"], 0.7);
  EXPECT_EQ(full["top_p"], 0.9);
  EXPECT_EQ(full["max_tokens"], 100);
}

TEST(OpenAiRequest, IsPostedBelowTheEndpointAndCarriesTheKeyOnlyWhenSigned) {
  const Wire wire = wire_of(jobs::OpenAi{});
  ChatRequest chat;
  chat.messages = {{Role::user, "u", {}, "", false}};
  HttpRequest request = wire.request(chat, spec_of("m"), {});
  EXPECT_EQ(request.url, "http://h/v1/chat/completions");
  EXPECT_EQ(request.body, chat_request_body(chat, spec_of("m")));
  const std::size_t plain = request.headers.size();
  wire.sign(request, spec_of("m"), {}, 0);
  EXPECT_EQ(request.headers.size(), plain);
  wire.sign(request, spec_of("m"), ApiKey("sk-1"), 0);
  EXPECT_EQ(request.headers.back().name, "authorization");
  EXPECT_EQ(request.headers.back().value, "Bearer sk-1");
}

TEST(OpenAiRequest, ToolsAndTheirAnswersHaveTheWireForm) {
  ChatRequest request;
  request.messages = {{Role::assistant, "", {{"c1", "f", "{}"}}, "", false}, {Role::tool, "done", {}, "c1", false}};
  request.tools = {{"f", "does f", R"({"type":"object"})"}};
  const Json body = Json::parse(chat_request_body(request, spec_of("m")));
  EXPECT_TRUE(body["messages"][0]["content"].is_null());
  EXPECT_EQ(body["messages"][0]["tool_calls"][0],
            Json::parse(R"({"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}})"));
  EXPECT_EQ(body["messages"][1], Json::parse(R"({"role":"tool","tool_call_id":"c1","content":"done"})"));
  EXPECT_EQ(
      body["tools"][0],
      Json::parse(
          R"({"type":"function","function":{"name":"f","description":"does f","parameters":{"type":"object"}}})"));
}

TEST(OpenAiRequest, ArgumentsThatAreNoObjectAreReplayedAsValidJson) {
  const ChatReply reply = parse_chat_response(test::case_text("01_args_cut_mid_string.json")).value();
  EXPECT_EQ(reply.finish, Finish::length);
  ChatRequest request;
  request.messages = {reply.message};
  const Json body = Json::parse(chat_request_body(request, spec_of("m")));
  const Json sent = Json::parse(body["messages"][0]["tool_calls"][0]["function"]["arguments"].get<std::string>());
  EXPECT_EQ(sent["_invalid"], reply.message.tool_calls[0].arguments);
}

TEST(OpenAiRequest, WhatIsNoNameOfAToolIsSentBackAsOne) {
  ChatRequest chat;
  const std::string longest(64, 'n');
  for (const auto& [name, sent] :
       std::vector<std::pair<std::string, std::string>>{{"repo.browse/\"x\"", "repo_browse__x_"},
                                                        {"", "unknown"},
                                                        {longest + "more", longest},
                                                        {"a-b_1", "a-b_1"}}) {
    chat.messages = {{Role::user, "Go."}, {Role::assistant, "", {{"c", name, "{}"}}, "", false}};
    const Json body = Json::parse(chat_request_body(chat, spec_of("m")));
    EXPECT_EQ(body["messages"][1]["tool_calls"][0]["function"]["name"], sent) << "others are refused for ever";
  }
}

TEST(OpenAiResponse, ReasoningOnlyIsCutAndHoldsNoContent) {
  const ChatReply reply = parse_chat_response(test::case_text("06_reasoning_only_length.json")).value();
  EXPECT_EQ(reply.finish, Finish::length);
  EXPECT_EQ(reply.message.content, "");
  EXPECT_TRUE(reply.message.tool_calls.empty());
  EXPECT_TRUE(reply.reasoning.starts_with("The partition dimension"));
  EXPECT_EQ(reply.usage.input, 700u);
  EXPECT_EQ(reply.usage.output, 2048u);
}

TEST(OpenAiResponse, LoneSurrogateIsMendedAndNulSurvives) {
  const std::string bytes = test::case_text("14_surrogate_and_nul.json");
  const ChatReply reply = parse_chat_response(bytes).value();
  EXPECT_TRUE(reply.message.content.starts_with(
      "half a pair: \xef\xbf\xbd | whole pair: \xf0\x9d\x90\xb1 | nul: a\0b | bell: \x07\n"s));
  EXPECT_EQ(reply.mended, 1u);
  EXPECT_EQ(reply.raw, bytes);
  EXPECT_EQ(parse_reply(to_json(reply)).message.content, reply.message.content);
}

TEST(OpenAiResponse, EveryCutBodyIsRefused) {
  const std::string whole = test::case_text("06_reasoning_only_length.json");
  for (std::size_t length = 0; length + 2 < whole.size(); ++length) {
    EXPECT_THROW(parse_chat_response(whole.substr(0, length)), Error) << length;
  }
}

TEST(OpenAiResponse, ContentMayBeParts) {
  const ChatReply reply =
      parse_chat_response(
          R"({"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},)"
          R"("finish_reason":"stop"}]})")
          .value();
  EXPECT_EQ(reply.message.content, "ab");
}

TEST(OpenAiResponse, RefusalAndContentFilterAreRefused) {
  EXPECT_EQ(parse_chat_response(R"({"choices":[{"message":{"content":null,"refusal":"no"},"finish_reason":"stop"}]})")
                .value()
                .finish,
            Finish::refused);
  EXPECT_EQ(parse_chat_response(R"({"choices":[{"message":{"content":"x"},"finish_reason":"content_filter"}]})")
                .value()
                .finish,
            Finish::refused);
}

TEST(RetryAfter, ThreeFormsOfWaitAndAQuota) {
  const Json cases = test::case_json("10_http_429_three_forms.json");
  std::vector<double> waits;
  std::vector<WireFault> faults;
  for (const Json& item : cases) {
    const WireVerdict verdict = verdict_of(item["status"], headers_of(item["headers"]), body_of(item["body"]));
    waits.push_back(verdict.server_wait.value_or(Seconds(-1)).count());
    faults.push_back(verdict.fault);
  }
  EXPECT_EQ(waits, (std::vector<double>{7, 50, 90, 86400}));
  EXPECT_EQ(faults, (std::vector<WireFault>{WireFault::retry, WireFault::retry, WireFault::retry, WireFault::fatal}));
}

TEST(RetryAfter, MillisecondsStandFirstAndADayIsAQuotaByItself) {
  EXPECT_EQ(server_wait({{"retry-after-ms", "1500"}, {"retry-after", "9"}}, true)->count(), 1.5);
  EXPECT_EQ(verdict_of(429, {{"retry-after", "86400"}}, "").fault, WireFault::fatal);
  EXPECT_FALSE(server_wait({{"retry-after", "soon"}}, true).has_value());
  EXPECT_FALSE(parse_span("-5").has_value());
  EXPECT_EQ(parse_span("1h2m3.5s")->count(), 3723.5);
  EXPECT_EQ(server_wait({{"anthropic-ratelimit-tokens-reset", "2026-10-21T07:28:00Z"},
                         {"date", "Wed, 21 Oct 2026 07:27:10 GMT"}},
                        true)
                ->count(),
            50);
}

// date -u -d 2026-10-21T07:28:00Z +%s: 1792567680
TEST(RetryAfter, AResetMayBeATimeInManyForms) {
  const auto wait = [](const char* reset) {
    const auto time = server_wait({{"x-ratelimit-reset", reset}, {"date", "Wed, 21 Oct 2026 07:27:10 GMT"}}, true)
                          .value_or(Seconds(-1));
    return std::round(time.count() * 1000) / 1000;
  };
  for (const char* reset :
       {"1792567680", "1792567680000", "1792567680000000", "2026-10-21T07:28:00Z", "2026-10-21T07:28:00.000Z",
        "2026-10-21T09:28:00+02:00", "2026-10-21T04:58:00.0-02:30", "50", "50s"})
    EXPECT_EQ(wait(reset), 50) << reset;
  EXPECT_EQ(wait("1792567680.25"), 50.25);
  EXPECT_EQ(wait("2026-10-21T07:28:00.25Z"), 50.25);
  EXPECT_EQ(wait("1792567600"), 0) << "it has passed";
  for (const char* reset : {"", "2026-10-21T07:28:00", "2026-10-21T07:28:00.Zulu", "1e999", "999999999x"})
    EXPECT_EQ(wait(reset), -1) << reset;
  EXPECT_FALSE(server_wait({{"x-ratelimit-reset", "1792567680"}}, true)) << "no date to count it from";
}

TEST(RetryAfter, AWindowsEndIsNoWaitForWhatAnotherFaultBroke) {
  const Headers headers = {{"x-ratelimit-reset", "86400"}};
  EXPECT_EQ(verdict_of(500, headers, "").fault, WireFault::retry);
  EXPECT_FALSE(verdict_of(500, headers, "").server_wait);
  EXPECT_EQ(verdict_of(429, headers, "").fault, WireFault::fatal);
  EXPECT_EQ(verdict_of(500, {{"retry-after", "7"}}, "").server_wait, Seconds(7));
}

TEST(ClassifyError, ARateLimitIsWaitedForUnlessOneRequestIsMore) {
  const auto fault = [](int status, const std::string& error) {
    return verdict_of(status, {}, "{\"error\":" + error + "}").fault;
  };
  for (const int status : {400, 403, 413, 429}) {
    EXPECT_EQ(fault(status, R"({"message":"slow down","code":"rate_limit_exceeded"})"), WireFault::retry) << status;
    EXPECT_EQ(fault(status, R"({"message":"tokens per min (TPM): Limit 10000, Used 8000, Requested 4000."})"),
              WireFault::retry);
    EXPECT_EQ(fault(status, R"({"message":"Request too large on tokens per minute (TPM): Limit 6000, Requested 8124",)"
                            R"("type":"tokens","code":"rate_limit_exceeded"})"),
              WireFault::fatal);
  }
  EXPECT_EQ(fault(400, R"({"message":"rewards per minute are no field"})"), WireFault::fatal);
}

TEST(ClassifyError, FourShapesOfTooLongAndOneBadRequest) {
  const Json cases = test::case_json("13_context_overflow_shapes.json");
  ASSERT_EQ(cases.size(), 5u);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const WireVerdict verdict = verdict_of(cases[i]["status"], {}, cases[i]["body"].dump());
    EXPECT_EQ(verdict.fault, i < 4 ? WireFault::context_full : WireFault::fatal) << i;
  }
  EXPECT_EQ(verdict_of(400, {}, cases[4]["body"].dump()).message,
            "HTTP 400: Expecting ',' delimiter: line 1 column 9 (char 8)");
}

TEST(ClassifyError, EveryServersWordsForTooLong) {
  // In the words of servers' sources and public reports, numbers changed.
  const Json cases = test::case_json("21_context_overflow_words.json");
  ASSERT_EQ(cases.size(), 16u);
  for (const Json& item : cases)
    EXPECT_EQ(verdict_of(item["status"], {}, item["body"].dump()).fault, WireFault::context_full) << item["server"];
  // A limit of tokens a minute speaks of size, too; and so do mistakes of ours.
  EXPECT_EQ(verdict_of(429, {}, R"({"error":{"message":"the context window of this minute is exceeded"}})").fault,
            WireFault::retry);
  EXPECT_EQ(verdict_of(400, {}, R"({"error":{"message":"temperature exceeds the maximum of 2"}})").fault,
            WireFault::fatal);
  EXPECT_EQ(verdict_of(400, {}, R"({"error":{"message":"invalid input: 'seed' is too large"}})").fault,
            WireFault::fatal);
}

TEST(ClassifyError, ADialectIsLearntFromItsRefusal) {
  const auto limit = verdict_of(
      400, {}, R"({"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}})");
  EXPECT_EQ(limit.fault, WireFault::adapt);
  EXPECT_EQ(limit.dialect, (Dialect{.max_completion_tokens = true}));
  const auto content =
      verdict_of(400, {}, R"({"error":{"message":"can only concatenate str (not \"NoneType\") to str"}})");
  EXPECT_EQ(content.fault, WireFault::adapt);
  EXPECT_EQ(content.dialect, (Dialect{.empty_content = true}));
  ChatRequest request;
  request.messages = {{Role::assistant, "", {{"c1", "f", "{}"}}, "", false}};
  const Json body = Json::parse(
      chat_request_body(request, spec_of("m", {}, {}, 100), {.max_completion_tokens = true, .empty_content = true}));
  EXPECT_EQ(body["messages"][0]["content"], "");
  EXPECT_EQ(body["max_completion_tokens"], 100);
  EXPECT_FALSE(body.contains("max_tokens"));
}

TEST(OpenAiRequest, IdsOfCallsAreUniqueAndAnswersFollowThem) {
  ChatRequest request;
  request.messages = {{Role::assistant, "", {{"0", "f", "{}"}, {"0", "f", "{}"}}, "", false},
                      {Role::tool, "a", {}, "0", false},
                      {Role::tool, "b", {}, "0", false},
                      {Role::assistant, "", {{"0", "f", "{}"}}, "", false},
                      {Role::tool, "c", {}, "0", false}};
  const Json messages = Json::parse(chat_request_body(request, spec_of("m")))["messages"];
  const std::vector<std::string> ids = {messages[0]["tool_calls"][0]["id"], messages[0]["tool_calls"][1]["id"],
                                        messages[3]["tool_calls"][0]["id"]};
  EXPECT_EQ(ids, (std::vector<std::string>{"0", "call00001", "call00002"}));
  EXPECT_EQ(messages[1]["tool_call_id"], ids[0]);
  EXPECT_EQ(messages[2]["tool_call_id"], ids[1]);
  EXPECT_EQ(messages[4]["tool_call_id"], ids[2]);
}

TEST(OpenAiRequest, ThoughtsGoBackWithTheCallsThatCameOutOfThem) {
  const auto said = [](const std::string& key, bool calls) {
    const std::string tools =
        R"("tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}],)";
    return parse_chat_response(R"({"choices":[{"message":{"content":null,)" + (calls ? tools : "") + "\"" + key +
                               R"(":"I think."}}]})")
        .value();
  };
  for (const std::string key : {"reasoning_content", "reasoning"}) {
    ChatRequest request;
    request.messages = {said(key, true).message, said(key, false).message};
    const Json messages = Json::parse(chat_request_body(request, spec_of("m")))["messages"];
    EXPECT_EQ(messages[0][key], "I think.");
    EXPECT_FALSE(messages[1].contains(key));
    // A call that is found in the text later, also after a resume, takes its thoughts along.
    const ChatReply logged = parse_reply(to_json(said(key, false)));
    request.messages = {logged.message};
    request.messages[0].tool_calls = {{"c", "f", "{}"}};
    give_thoughts_back(request.messages[0], logged);
    EXPECT_EQ(Json::parse(chat_request_body(request, spec_of("m")))["messages"][0][key], "I think.");
  }
}

TEST(ClassifyError, WhatMayPassIsRetriedAndWhatCannotIsFatal) {
  for (const long status : {408L, 409L, 425L, 429L, 500L, 503L, 529L})
    EXPECT_EQ(verdict_of(status, {}, "").fault, WireFault::retry) << status;
  for (const long status : {401L, 402L, 403L, 404L, 422L})
    EXPECT_EQ(verdict_of(status, {}, "").fault, WireFault::fatal) << status;
  EXPECT_EQ(verdict_of(200, {}, R"({"error":{"message":"overloaded","type":"overloaded_error"}})").fault,
            WireFault::retry);
  EXPECT_EQ(verdict_of(400, {}, R"({"error":{"message":"not valid JSON: unexpected end of data"}})").fault,
            WireFault::retry_once);
}

TEST(ServedWire, RequestAndReplyComeThroughTheWireEqual) {
  ChatRequest request;
  request.messages = {{Role::system, "s", {}, "", false},
                      {Role::user, "Task: L1/001_add", {}, "", false},
                      {Role::assistant, "", {{"c1", "f", "{\"a\":1}"}}, "", false},
                      {Role::tool, "{}", {}, "c1", false}};
  request.tools = {{"f", "d", R"({"type":"object"})"}};
  request.seed = 2147483647;
  const ServedRequest served = parse_chat_request(chat_request_body(request, spec_of("novice", 0.5)));
  EXPECT_EQ(served.model, "novice");
  EXPECT_EQ(served.request.seed, request.seed);
  ASSERT_EQ(served.request.messages.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(to_json(served.request.messages[i]), to_json(request.messages[i]));
  ASSERT_EQ(served.request.tools.size(), 1u);

  ChatReply reply;
  reply.message = {Role::assistant, "", {{"c2", "f", "{\"a\":"}}, "", false};
  reply.finish = Finish::length;
  reply.usage = {5, 6, 0};
  reply.system_fingerprint = kSyntheticFingerprint;
  EXPECT_EQ(to_json(parse_chat_response(chat_response_body(reply, "novice", "id")).value()), to_json(reply));
}

TEST(ServedWire, BadRequestsAreToldWhatIsWrong) {
  EXPECT_THROW(parse_chat_request("{"), Error);
  EXPECT_THROW(parse_chat_request(R"({"model":"m","messages":[]})"), Error);
  EXPECT_THROW(parse_chat_request(R"({"model":"m","messages":[{"role":"wizard","content":"x"}]})"), Error);
  EXPECT_EQ(read_error(error_body("bad", "invalid_request_error", "x")).message, "bad");
}

}  // namespace
}  // namespace nkigrid::model
