#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "runner/model/client.hpp"
#include "runner/model/wire/faults.hpp"
#include "tests/model/client_fixture.hpp"
#include "tests/model/fixtures.hpp"
#include "tests/model/scripted_server.hpp"

namespace nkigrid::model {
namespace {

using test::Failure;
using test::failure_of;
using test::hello;
using test::http;
using test::kGood;
using test::kQuick;
using test::ScriptedServer;
using test::spec;
using test::Step;

TEST(ChatClient, PostsAndReadsAReplyOnOneKeptConnection) {
  ScriptedServer server({{http(200, kGood)}});
  ChatClient model(spec(server.url() + "/"), wire_of(jobs::OpenAi{}), ApiKey("sk-1"), nullptr, kQuick);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(model.complete(hello(), {}).message.content, "hi");
  EXPECT_EQ(server.connections(), 1u);
  const std::string request = server.requests().front();
  EXPECT_TRUE(request.starts_with("POST /v1/chat/completions HTTP/1.1"));
  EXPECT_NE(request.find("authorization: Bearer sk-1"), std::string::npos);
  EXPECT_NE(request.find(R"({"messages":[{"content":"hello","role":"user"}],"model":"qwen"})"), std::string::npos);
}

TEST(ChatClient, RetriesLoadFaultsCutBodiesGarbageAndResets) {
  const std::string cut = "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"choices\":";
  ScriptedServer server({{http(429, "{}")},
                         {http(503, "busy")},
                         {cut, Step::After::close},
                         {http(200, "<html>"), Step::After::close},
                         {"", Step::After::close},
                         {http(200, R"({"error":{"message":"overloaded"}})")},
                         {http(200, kGood)}});
  ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), {}, nullptr, kQuick);
  const ChatReply reply = model.complete(hello(), {});
  EXPECT_EQ(reply.message.content, "hi");
  EXPECT_EQ(reply.api_retries, 6u);
  EXPECT_GT(reply.wait_s, 0);
  EXPECT_EQ(server.requests().size(), 7u);
}

// python3: gzip.compress(kGood, mtime=0), zlib.compress(kGood)
const std::string kGzip(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x3d\x8d\x31\x0e\x03\x21\x0c\x04\xff\xb2\x35\x4d\x94\x8e"
    "\xaf\x9c\xa2\x13\x42\x4e\xb0\x72\xd8\x08\x3b\x15\xe2\xef\xc7\x15\x97\x6a\x47\x53\xcc\x0e\xe4\xa2"
    "\x9c\xc9\x10\xb7\x81\x4a\x66\xe9\x43\x88\x03\x5d\x8f\xb5\x48\x66\x6c\x9e\xc4\x11\x90\x55\x9c\x16"
    "\x45\x14\xc6\x0c\x78\xb3\xb0\x95\xbd\x53\x32\x95\x65\xcd\xb5\x61\xbe\x02\x7e\x77\xa4\x75\xad\xcd"
    "\x77\xd7\x2f\xc9\x7a\x78\x5e\x8d\xda\x0e\x72\x56\xf9\xdb\xc7\x9c\x27\x10\x21\x38\xde\x86\x00\x00"
    "\x00",
    121);
const std::string kDeflate(
    "\x78\x9c\x3d\x8d\x31\x0e\x03\x21\x0c\x04\xff\xb2\x35\x4d\x94\x8e\xaf\x9c\xa2\x13\x42\x4e\xb0\x72"
    "\xd8\x08\x3b\x15\xe2\xef\xc7\x15\x97\x6a\x47\x53\xcc\x0e\xe4\xa2\x9c\xc9\x10\xb7\x81\x4a\x66\xe9"
    "\x43\x88\x03\x5d\x8f\xb5\x48\x66\x6c\x9e\xc4\x11\x90\x55\x9c\x16\x45\x14\xc6\x0c\x78\xb3\xb0\x95"
    "\xbd\x53\x32\x95\x65\xcd\xb5\x61\xbe\x02\x7e\x77\xa4\x75\xad\xcd\x77\xd7\x2f\xc9\x7a\x78\x5e\x8d"
    "\xda\x0e\x72\x56\xf9\xdb\xc7\x9c\x27\x60\xe7\x2f\x89",
    109);

TEST(ChatClient, ReadsWhatAGatewayCompressedUnasked) {
  ScriptedServer server(
      {{http(200, kGzip, "content-encoding: gzip\r\n")}, {http(200, kDeflate, "content-encoding: deflate\r\n")}});
  ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), {}, nullptr, kQuick);
  for (int i = 0; i < 2; ++i) {
    const ChatReply reply = model.complete(hello(), {});
    EXPECT_EQ(reply.message.content, "hi");
    EXPECT_EQ(reply.raw, kGood);
    EXPECT_EQ(reply.api_retries, 0u);
  }
}

TEST(ChatClient, LearnsADialectOnceAndKeepsIt) {
  const std::string refusal =
      R"({"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'."}})";
  ScriptedServer server({{http(400, refusal)}, {http(200, kGood)}, {http(200, kGood)}, {http(400, refusal)}});
  jobs::ModelSpec limited = spec(server.url());
  limited.max_tokens = 100;
  ChatClient model(limited, wire_of(jobs::OpenAi{}), {}, nullptr, kQuick);
  EXPECT_EQ(model.complete(hello(), {}).api_retries, 0u);
  model.complete(hello(), {});
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_NE(requests[0].find(R"("max_tokens":100)"), std::string::npos);
  EXPECT_NE(requests[1].find(R"("max_completion_tokens":100)"), std::string::npos);
  EXPECT_NE(requests[2].find(R"("max_completion_tokens":100)"), std::string::npos);
  EXPECT_EQ(failure_of(model).kind, ChatFailure::fatal);  // refused in the dialect that it asked for
}

TEST(ChatClient, ABodyThatStandsStillIsGivenUpAndSentAgain) {
  ScriptedServer server({{"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{", Step::After::hang}, {http(200, kGood)}});
  ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), {}, nullptr, kQuick);
  EXPECT_EQ(model.complete(hello(), {}).api_retries, 1u);
}

/// libcurl takes any number of them, and keeps them all.
TEST(ChatClient, TrailersWithoutEndAreCut) {
  const std::string hi = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n";
  std::string trailers;
  while (trailers.size() < (std::size_t{4} << 20)) trailers += "x-a: " + std::string(3000, 'a') + "\r\n";
  ScriptedServer server({{hi + trailers, Step::After::hang}, {http(200, kGood)}});
  auto patient = kQuick;
  patient.idle_timeout = Seconds(600);
  ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), {}, nullptr, patient);
  EXPECT_EQ(model.complete(hello(), {}).api_retries, 1u);
}

TEST(ChatClient, AuthenticationAndBadRequestsAreFatalAtOnce) {
  ScriptedServer server({{http(401, R"({"error":{"message":"bad key"}})")},
                         {http(404, R"({"message":"no such model"})")},
                         {http(400, R"({"error":{"message":"bad"}})")}});
  ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), ApiKey("sk-secret"), nullptr, kQuick);
  Failure failure = failure_of(model);
  EXPECT_EQ(failure.kind, ChatFailure::fatal);
  EXPECT_NE(failure.text.find("HTTP 401: bad key; check models.qwen.key"), std::string::npos);
  EXPECT_EQ(failure.text.find("sk-secret"), std::string::npos);
  EXPECT_NE(failure_of(model).text.find("no such model; check models.qwen.endpoint and models.qwen.model 'qwen'"),
            std::string::npos);
  EXPECT_EQ(failure_of(model).kind, ChatFailure::fatal);
  EXPECT_EQ(server.requests().size(), 3u);
}

TEST(ChatClient, ARedirectIsToldAndNotFollowed) {
  ScriptedServer elsewhere({{http(200, kGood)}});
  ScriptedServer server({{http(307, "", "location: " + elsewhere.url() + "\r\n")}});
  ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), ApiKey("sk-secret-of-one-host"), nullptr, kQuick);
  const Failure failure = failure_of(model);
  EXPECT_EQ(failure.kind, ChatFailure::fatal);
  EXPECT_NE(failure.text.find("it points to '" + elsewhere.url() + "'"), std::string::npos) << failure.text;
  EXPECT_TRUE(elsewhere.requests().empty());
}

TEST(ChatClient, AsksLessAtOnceWhereThatIsTooMuch) {
  // Four lanes; the first is told that this is too much, and three replies later each has its own.
  ScriptedServer server({{http(429, "{}")}, {http(200, kGood)}});
  ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), {}, nullptr, kQuick);
  std::vector<std::jthread> lanes;
  std::atomic<int> answered{0};
  for (int i = 0; i < 4; ++i)
    lanes.emplace_back([&] { answered += model.complete(hello(), {}).message.content == "hi" ? 1 : 0; });
  lanes.clear();
  EXPECT_EQ(answered, 4);
  EXPECT_EQ(server.requests().size(), 5u);
}

TEST(ChatClient, WhatAServerDoesNotCountIsEstimatedFromAbove) {
  ScriptedServer server({{http(200, R"({"choices":[{"message":{"role":"assistant","content":"twelve bytes"}}]})")}});
  ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), {}, nullptr, kQuick);
  const ChatReply reply = model.complete(hello(), {});
  EXPECT_TRUE(reply.usage.estimated);
  EXPECT_EQ(reply.usage.output, 6u);
  EXPECT_EQ(reply.usage.input, (reply.request.size() + 1) / 2);
}

TEST(ChatClient, TooLongIsAModelOutcomeAndIsNotRetried) {
  ScriptedServer server({{http(400, R"({"error":{"message":"x","code":"context_length_exceeded"}})")}});
  ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), {}, nullptr, kQuick);
  EXPECT_EQ(failure_of(model).kind, ChatFailure::context_full);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(ChatClient, AGatewaysLimitAndOurOwnAreNotTheModels) {
  const auto* nginx = "<html><head><title>413 Request Entity Too Large</title></head></html>";
  const auto* answer =
      R"({"message":"'max_tokens' or 'max_completion_tokens' is too large: 16384. This model's maximum )"
      R"(context length is 8192 tokens and your request has 1300 input tokens","code":400})";
  for (const auto& refused : {http(413, nginx), http(413, ""), http(400, answer)}) {
    ScriptedServer server({{refused}});
    ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), {}, nullptr, kQuick);
    EXPECT_EQ(failure_of(model).kind, ChatFailure::fatal);
  }
  const auto* minute =
      R"({"error":{"message":"too large on tokens per minute","type":"tokens","code":"rate_limit_exceeded"}})";
  ScriptedServer busy({{http(413, minute)}, {http(200, kGood)}});
  ChatClient model(spec(busy.url()), wire_of(jobs::OpenAi{}), {}, nullptr, kQuick);
  model.complete(hello(), {});
  EXPECT_EQ(busy.requests().size(), 2u);
}

TEST(ChatClient, AContentFilterIsARefusal) {
  ScriptedServer server({{http(400, R"({"error":{"message":"filtered","code":"content_filter"}})")}});
  ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), {}, nullptr, kQuick);
  EXPECT_EQ(model.complete(hello(), {}).finish, Finish::refused);
}

TEST(ChatClient, AnEndpointThatNeverAnsweredIsFatalAndSaysWhatToDo) {
  std::string dead;
  { dead = ScriptedServer({{""}}).url(); }  // a port that was just closed
  ChatClient model(spec(dead), wire_of(jobs::OpenAi{}), {}, nullptr, kQuick);
  const Failure failure = failure_of(model);
  EXPECT_EQ(failure.kind, ChatFailure::fatal);
  EXPECT_NE(failure.text.find(dead), std::string::npos);
  EXPECT_NE(failure.text.find("start the server, or correct models.qwen.endpoint"), std::string::npos);
}

TEST(ChatClient, AProxyThatIsDeadIsNamedWithoutItsPassword) {
  std::string dead;
  { dead = ScriptedServer({{""}}).url(); }
  dead = dead.substr(7, dead.size() - 10);  // host and port
  ::setenv("http_proxy", ("http://me:CANARY-word@" + dead).c_str(), 1);
  ChatClient model(spec("http://model.example/v1"), wire_of(jobs::OpenAi{}), {}, nullptr, kQuick);
  const Failure failure = failure_of(model);
  ::unsetenv("http_proxy");
  EXPECT_EQ(failure.kind, ChatFailure::fatal);
  EXPECT_NE(failure.text.find("the environment says http_proxy=" + dead), std::string::npos) << failure.text;
  EXPECT_EQ(failure.text.find("CANARY"), std::string::npos);
}

TEST(ChatClient, AnEndpointThatIsNoUrlIsFatal) {
  for (const std::string endpoint : {"http://h:99999/v1", "gopher://127.0.0.1/v1"}) {
    ChatClient model(spec(endpoint), wire_of(jobs::OpenAi{}), {}, nullptr, kQuick);
    EXPECT_EQ(failure_of(model).kind, ChatFailure::fatal) << endpoint;
  }
}

TEST(ChatClient, AnEndpointThatDiedLaterIsAway) {
  auto server = std::make_unique<ScriptedServer>(std::vector<Step>{{http(200, kGood), Step::After::close}});
  jobs::ModelSpec model_spec = spec(server->url());
  model_spec.retry_limit = Seconds(0.4);
  ChatClient model(model_spec, wire_of(jobs::OpenAi{}), {}, nullptr, kQuick);
  EXPECT_EQ(model.complete(hello(), {}).message.content, "hi");
  server.reset();
  EXPECT_EQ(failure_of(model).kind, ChatFailure::away);
}

TEST(ChatClient, AStopInterruptsARequestInFlight) {
  ScriptedServer server({{"", Step::After::hang}});
  ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), {}, nullptr, kQuick);
  std::stop_source stop;
  std::jthread stopper([&] {
    while (server.requests().empty()) std::this_thread::yield();
    stop.request_stop();
  });
  EXPECT_EQ(failure_of(model, stop.get_token()).kind, ChatFailure::interrupted);
}

TEST(ChatClient, AStopInterruptsALongWait) {
  ScriptedServer server({{http(429, "", "retry-after: 15\r\n")}});
  ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), {}, nullptr, kQuick);
  std::stop_source stop;
  std::jthread stopper([&] {
    while (server.requests().empty()) std::this_thread::yield();
    stop.request_stop();
  });
  EXPECT_EQ(failure_of(model, stop.get_token()).kind, ChatFailure::interrupted);
}

TEST(ChatClient, TheFirstRetryHasAConnectionOfItsOwnAndTheNextKeepIt) {
  ScriptedServer server({{http(503, "")}, {http(503, "")}, {http(503, "")}, {http(200, kGood)}});
  ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), {}, nullptr, kQuick);
  model.complete(hello(), {});
  EXPECT_EQ(server.requests().size(), 4u);
  EXPECT_EQ(server.connections(), 2u) << "the kept one may be what failed";
}

TEST(ChatClient, TheProvidersNameOfARequestIsTheReplys) {
  for (const char* header : {"request-id", "X-Request-ID", "x-amzn-RequestId"}) {
    ScriptedServer server({{http(200, kGood, std::string(header) + ": req_7\r\n")}});
    ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), {}, nullptr, kQuick);
    EXPECT_EQ(model.complete(hello(), {}).request_id, "req_7") << header;
  }
}

class CountingPermits final : public Permits {
 public:
  void narrowed(const std::string& model, std::uint32_t limit) override {
    EXPECT_EQ(model, "qwen");
    limits.push_back(limit);
  }
  std::vector<std::uint32_t> limits;
  bool acquire(const std::string& model, std::stop_token stop) override {
    EXPECT_EQ(model, "qwen");
    ++acquired;
    return !stop.stop_requested();
  }
  void release(const std::string&) override { ++released; }
  std::atomic<int> acquired{0}, released{0};
};

TEST(ChatClient, HoldsAPermitForEachTryAndGivesItBack) {
  ScriptedServer server({{http(503, "")}, {http(200, kGood)}, {http(401, "")}});
  CountingPermits permits;
  ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), {}, &permits, kQuick);
  model.complete(hello(), {});
  EXPECT_EQ(permits.acquired, 2);
  EXPECT_EQ(failure_of(model).kind, ChatFailure::fatal);
  EXPECT_EQ(permits.acquired, permits.released);
}

TEST(ChatClient, HowManyAnEndpointTakesIsToldAfterEachTry) {
  ScriptedServer server({{http(200, kGood)}, {http(429, "{}")}, {http(200, kGood)}});
  CountingPermits permits;
  ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), {}, &permits, kQuick);
  for (int i = 0; i < 2; ++i) model.complete(hello(), {});
  EXPECT_EQ(permits.limits, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(ChatClient, AnEndpointThatTakesLessIsToldNowAndThen) {
  ScriptedServer server({{http(503, "")}, {http(429, "{}")}, {http(200, kGood)}, {http(529, "")}, {http(200, kGood)}});
  ManualClock clock;
  ClientTuning tuning = kQuick;
  tuning.clock = &clock;
  ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), {}, nullptr, tuning);
  const auto said = [&] {
    testing::internal::CaptureStderr();
    model.complete(hello(), {});
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said(),
            "nkigrid: model 'qwen': the endpoint answers that it cannot take so much now (HTTP 503); 1 in flight from "
            "now on, more as it answers\n")
      << "once, of two complaints";
  clock.advance(Seconds(301));
  const auto later = said();
  EXPECT_NE(later.find("(HTTP 529)"), std::string::npos) << later;
}

/// A wire of no provider: what is sent is the last message, and a signature that covers the body and the time.
const Wire kToyWire = {
    [](const ChatRequest& chat, const jobs::ModelSpec& model, const Dialect&) -> HttpRequest {
      return {url_below(remote_of(model.api)->endpoint, "/toy"), {{"x-form", "toy"}}, chat.messages.back().content};
    },
    [](HttpRequest& request, const jobs::ModelSpec&, const ApiKey& key, double now) {
      request.headers.push_back({"x-signed", key.value + "/" + request.body + "/" + (now > 1.7e9 ? "now" : "never")});
    },
    [](std::string_view body) -> std::optional<ChatReply> {
      if (body.starts_with("sorry")) return std::nullopt;
      ChatReply reply;
      reply.message = {.role = Role::assistant, .content = std::string(body), .opaque = "[7]"};
      return reply;
    },
    [](const HttpAnswer& answer) { return judge_error(answer, {.present = true, .message = answer.body}); }};

TEST(ChatClient, AsksRetriesAndSignsOverAnyWire) {
  ScriptedServer server({{http(529, "overloaded")}, {http(200, "sorry, too busy")}, {http(200, "hi")}});
  ChatClient model(spec(server.url()), kToyWire, ApiKey("k"), nullptr, kQuick);
  const ChatReply reply = model.complete(hello(), {});
  EXPECT_EQ(reply.message.content, "hi");
  EXPECT_EQ(reply.message.opaque, "[7]");
  EXPECT_EQ(reply.api_retries, 2u);
  for (const std::string& request : server.requests()) {
    EXPECT_TRUE(request.starts_with("POST /v1/toy HTTP/1.1"));
    EXPECT_NE(request.find("x-form: toy"), std::string::npos);
    EXPECT_EQ(request.find("x-signed: k/hello/now"), request.rfind("x-signed: "));
  }
}

TEST(ChatClient, WhatTheServerEchoesOfAKeyGoesNowhere) {
  const std::string key = "sk-proj-CANARY0123456789abcdef", spelled = R"(\u0073k-proj-CANARY0123456789abcdef)";
  const std::string reply = R"({"choices":[{"message":{"role":"assistant","content":"it is )" + spelled +
                            R"("},"finish_reason":"stop"}],"system_fingerprint":")" + key + "\"}";
  ScriptedServer server({{http(200, reply)}, {http(401, R"({"error":{"message":"wrong key )" + spelled + "\"}}")}});
  ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), ApiKey(key), nullptr, kQuick);
  const auto got = model.complete(hello(), {});
  EXPECT_EQ(got.message.content, "it is [key]");
  EXPECT_EQ(got.system_fingerprint, "[key]");
  EXPECT_EQ(got.raw.find("CANARY"), std::string::npos);
  EXPECT_NE(failure_of(model).text.find("HTTP 401: wrong key [key]"), std::string::npos);
}

TEST(ChatClient, AKeyThatComesInPiecesIsHiddenOnceItIsWhole) {
  const std::string stream = R"(data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"it is sk-pr"}}]}

data: {"choices":[{"index":0,"delta":{"content":"oj-CANARY0123456789abcdef"}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

)";
  ScriptedServer server({{http(200, stream, "content-type: text/event-stream\r\n")}});
  ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), ApiKey("sk-proj-CANARY0123456789abcdef"), nullptr,
                   kQuick);
  const auto reply = model.complete(hello(), {});
  EXPECT_EQ(reply.message.content, "it is [key]");
  EXPECT_EQ(reply.raw.find("CANARY"), std::string::npos);
  EXPECT_NE(reply.raw.find("withheld"), std::string::npos);
}

TEST(ChatClient, OfAKeyInPiecesNoneIsLeftBehindTheOneThatShowsIt) {
  const std::string key = "sk-proj-CANARY0123456789abcdef", end = "data: [DONE]\n\n";
  const auto piece = [](const std::string& text) {
    return R"(data: {"choices":[{"index":0,"delta":{"content":")" + text + "\"}}]}\n\n";
  };
  const std::string stream = piece("it is sk-proj-CA") + piece("NARY0123") + piece("456789abcdef, or so") + end;
  ScriptedServer server({{http(200, stream, "content-type: text/event-stream\r\n")}});
  ChatClient model(spec(server.url()), wire_of(jobs::OpenAi{}), ApiKey(key), nullptr, kQuick);
  const auto reply = model.complete(hello(), {});
  EXPECT_EQ(reply.message.content, "it is [key], or so");
  EXPECT_NE(reply.raw.find("withheld"), std::string::npos);
}

TEST(MakeModel, BuildsTheSyntheticModelFromItsProfile) {
  jobs::ModelSpec model;
  model.name = "novice";
  model.api = jobs::Synthetic{.profile = "novice"};
  CountingPermits permits;
  const auto made = make_models({model}, test::seed_benchmark(), test::profiles_folder(), permits);
  ChatRequest request;
  request.messages = {{Role::user, "Task: L1/001_add", {}, "", false}};
  EXPECT_EQ(made.at("novice")->complete(request, {}).system_fingerprint, kSyntheticFingerprint);
}

}  // namespace
}  // namespace nkigrid::model
