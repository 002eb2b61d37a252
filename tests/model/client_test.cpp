#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <latch>

#include "runner/model/client.hpp"
#include "runner/model/wire/faults.hpp"
#include "tests/model/fixtures.hpp"
#include "tests/model/scripted_server.hpp"

namespace nkigrid::model {
namespace {

using test::http;
using test::ScriptedServer;
using test::Step;

const std::string kGood = R"({"choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],)"
                          R"("usage":{"prompt_tokens":3,"completion_tokens":1}})";

constexpr ClientTuning kQuick{Seconds(0.002), Seconds(0.01), Seconds(0.2), Seconds(0.15), Seconds(0)};

jobs::ModelSpec spec(const std::string& endpoint) {
  jobs::ModelSpec model;
  model.name = "qwen";
  model.api = jobs::OpenAi{.remote = {.endpoint = endpoint, .model = "qwen"}};
  model.request_timeout = Seconds(5);
  model.retry_limit = Seconds(20);
  return model;
}

ChatRequest hello() {
  ChatRequest request;
  request.messages = {{Role::user, "hello", {}, "", false}};
  return request;
}

struct Failure {
  std::optional<ChatFailure> kind;
  std::string text;
};

Failure failure_of(ChatClient& model, std::stop_token stop = {}) {
  try {
    model.complete(hello(), stop);
  } catch (const ChatError& error) {
    EXPECT_EQ(error.code(), ErrorCode::external);
    return {error.failure, error.what()};
  }
  return {};
}

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

TEST(ChatClient, ASilentServerIsAwayAfterTheRetryLimit) {
  ScriptedServer server({{"", Step::After::hang}});
  jobs::ModelSpec slow = spec(server.url());
  slow.request_timeout = Seconds(0.05);
  slow.retry_limit = Seconds(0.2);
  ChatClient model(slow, wire_of(jobs::OpenAi{}), {}, nullptr, kQuick);
  const Failure failure = failure_of(model);
  EXPECT_EQ(failure.kind, ChatFailure::away);
  EXPECT_NE(failure.text.find("retry_limit"), std::string::npos);
}

TEST(ChatClient, AnOutageOfAnyKindIsNoConversationsFault) {
  const std::vector<Step> outages = {{http(500, "")},          {http(429, R"({"error":{"message":"slow down"}})")},
                                     {http(503, "")},          {http(200, "<html>sign in</html>")},
                                     {"", Step::After::close}, {"", Step::After::hang}};
  for (const auto& outage : outages) {
    ScriptedServer server({outage});
    jobs::ModelSpec model_spec = spec(server.url());
    model_spec.request_timeout = Seconds(0.1);  // longer than the patience: what times out together was sent together
    model_spec.retry_limit = Seconds(0.05);
    ChatClient model(model_spec, wire_of(jobs::OpenAi{}), {}, nullptr, kQuick);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(failure_of(model).kind, ChatFailure::away) << outage.bytes;
  }
}

TEST(ChatClient, EveryTryThatTheRetryLimitAllowsIsMade) {
  ScriptedServer server({{http(500, "")}});
  jobs::ModelSpec model_spec = spec(server.url());
  model_spec.retry_limit = Seconds(2);
  ClientTuning tuning = kQuick;
  tuning.first_backoff = tuning.longest_backoff = Seconds(1.5);
  ChatClient model(model_spec, wire_of(jobs::OpenAi{}), {}, nullptr, tuning);
  EXPECT_NE(failure_of(model).text.find("no reply after 2 retries"), std::string::npos) << "the last wait is cut short";
}

/// What comes of a request without patience: each script begins with its first try and the probe after it.
struct Doubt : testing::Test {
  std::optional<ScriptedServer> server;
  std::optional<ChatClient> model;
  void play(std::vector<Step> steps) {
    server.emplace(std::move(steps));
    jobs::ModelSpec hasty = spec(server->url());
    hasty.max_tokens = 4000;
    hasty.retry_limit = Seconds(0);
    model.emplace(hasty, wire_of(jobs::OpenAi{}), ApiKey{}, nullptr, kQuick);
  }
};

TEST_F(Doubt, AConversationThatFailsWhileOthersAreAnsweredIsTransient) {
  play({{http(500, "")}, {http(200, kGood)}, {http(500, "")}, {http(200, kGood)}});
  const auto failure = failure_of(*model);
  EXPECT_EQ(failure.kind, ChatFailure::transient);
  EXPECT_NE(failure.text.find("others are answered"), std::string::npos);
  const auto requests = server->requests();
  ASSERT_EQ(requests.size(), 4u);
  EXPECT_NE(requests[1].find(R"("max_tokens":16)"), std::string::npos) << "a probe costs a few tokens";
  EXPECT_NE(requests[2].find("hello"), std::string::npos);
}

TEST_F(Doubt, AnOutageThatIsJustOverCostsAWaitAndNoTry) {
  play({{http(500, "")}, {http(200, kGood)}, {http(200, kGood)}});
  EXPECT_EQ(model->complete(hello(), {}).api_retries, 1u);
}

TEST_F(Doubt, AnOutageThatBeginsInTheLastTryIsTheEndpoints) {
  play({{http(500, "")}, {http(200, kGood)}, {http(503, "")}});
  EXPECT_EQ(failure_of(*model).kind, ChatFailure::away);
}

TEST_F(Doubt, AServerThatRefusesAProbeIsThere) {
  play({{http(500, "")}, {http(400, R"({"error":{"message":"too few tokens"}})")}, {http(200, kGood)}});
  EXPECT_EQ(model->complete(hello(), {}).message.content, "hi");
}

/// Answers at once; a test says what.
struct ToldHttp final : HttpClient {
  using Answer = std::function<HttpAnswer(bool is_probe, const std::stop_token& stop)>;
  explicit ToldHttp(Answer answer) : answer(std::move(answer)) {}
  HttpAnswer post(const HttpRequest& request, const HttpOptions&, const std::stop_token& stop) override {
    return answer(request.body.find("hello") == std::string::npos, stop);
  }
  HttpAnswer get(const HttpRequest&, const HttpOptions&, const std::stop_token&) override { return {}; }
  Answer answer;
};

HttpAnswer told(long status, const std::string& body) {
  HttpAnswer answer;
  answer.transport = Transport::answered;
  answer.status = status;
  answer.body = body;
  return answer;
}

jobs::ModelSpec hasty() {
  auto model = spec("http://told/v1");
  model.retry_limit = Seconds(0);
  return model;
}

TEST(ChatClient, LanesThatWaitForAProbeAskNobodyAfterAStop) {
  constexpr int kLanes = 3;
  std::latch failed(kLanes), probing(1);
  std::atomic<int> probes{0}, interrupted{0};
  auto answer = [&](bool is_probe, const std::stop_token& stop) {
    if (!is_probe) return failed.arrive_and_wait(), told(500, "");
    if (++probes == 1) probing.count_down();
    while (!stop.stop_requested()) std::this_thread::yield();
    HttpAnswer ended;
    ended.transport = Transport::interrupted;
    return ended;
  };
  ChatClient model(hasty(), wire_of(jobs::OpenAi{}), {}, nullptr, kQuick, std::make_unique<ToldHttp>(answer));
  std::stop_source stop;
  std::vector<std::jthread> lanes;
  for (int i = 0; i < kLanes; ++i)
    lanes.emplace_back(
        [&] { interrupted += failure_of(model, stop.get_token()).kind == ChatFailure::interrupted ? 1 : 0; });
  probing.wait();
  stop.request_stop();
  lanes.clear();
  EXPECT_EQ(interrupted, kLanes);
  EXPECT_EQ(probes, 1);
}

/// A clock and a door that tell when a lane whose request failed has begun to ask whether the endpoint is there.
struct AskingLanes final : Permits, Clock {
  explicit AskingLanes(int lanes) : asking(lanes) {}
  bool acquire(const std::string&, std::stop_token) override { return true; }
  void release(const std::string&) override {}
  void heard(const std::string&, int status) override { has_failed() = status == 500; }
  double unix_seconds() const override { return clock.unix_seconds(); }
  Seconds monotonic() const override {
    const auto now = clock.monotonic();
    if (std::exchange(has_failed(), false)) asking.count_down();
    return now;
  }
  static bool& has_failed() {
    thread_local bool failed = false;
    return failed;
  }
  ManualClock clock;
  mutable std::latch asking;
};

TEST(ChatClient, TheWaitForAnothersProbeIsTheEndpointsDoing) {
  AskingLanes door(2);
  std::latch failed(2);
  std::atomic<int> tries{0}, probes{0};
  auto answer = [&](bool is_probe, const std::stop_token&) {
    if (!is_probe && ++tries <= 2) return failed.arrive_and_wait(), told(500, "");
    if (is_probe && ++probes == 1) door.asking.wait(), door.clock.advance(Seconds(3600));
    return told(200, kGood);
  };
  ClientTuning tuning = kQuick;
  tuning.clock = &door;
  ChatClient model(hasty(), wire_of(jobs::OpenAi{}), {}, &door, tuning, std::make_unique<ToldHttp>(answer));
  std::atomic<int> told_of_it{0};
  std::vector<std::jthread> lanes;
  for (int i = 0; i < 2; ++i)
    lanes.emplace_back([&] { told_of_it += model.complete(hello(), {}).failing_s >= 3600 ? 1 : 0; });
  lanes.clear();
  EXPECT_EQ(told_of_it, 2) << "the one that probed and the one that waited for it";
  EXPECT_EQ(probes, 1);
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

class CountingPermits final : public Permits {
 public:
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

/// Permits that take an hour each, in the queue of the grid or at an endpoint that is away.
struct SlowPermits final : Permits {
  SlowPermits(ManualClock& clock, Seconds away, Seconds queue) : clock(clock), away(away), queue(queue) {}
  bool reach(const std::string&, std::stop_token) override { return clock.advance(away), true; }
  bool acquire(const std::string&, std::stop_token) override { return clock.advance(queue), true; }
  void release(const std::string&) override {}
  ManualClock& clock;
  Seconds away, queue;
};

TEST(ChatClient, AQueueOfOursUsesUpNoPatienceAndAnEndpointThatIsAwayDoes) {
  const Seconds hour(3600);
  for (const bool away : {false, true}) {
    ScriptedServer server(away ? std::vector<Step>{{http(500, "")}}
                               : std::vector<Step>{{http(500, "")}, {http(200, kGood)}});
    ManualClock clock;
    SlowPermits permits(clock, away ? hour : Seconds(0), away ? Seconds(0) : hour);
    ClientTuning tuning = kQuick;
    tuning.clock = &clock;
    jobs::ModelSpec model_spec = spec(server.url());
    if (away) model_spec.retry_limit = Seconds(0.1);
    ChatClient model(model_spec, wire_of(jobs::OpenAi{}), {}, &permits, tuning);
    if (away) {
      EXPECT_EQ(failure_of(model).kind, ChatFailure::away);
      continue;
    }
    const ChatReply reply = model.complete(hello(), {});
    EXPECT_EQ(reply.api_retries, 1u);
    EXPECT_GE(reply.wait_s, 2 * hour.count()) << "all that was waited is told";
    EXPECT_LT(reply.failing_s, 1) << "a queue is not the endpoint's doing";
  }
}

TEST(ChatClient, AReplyTellsWhatTheEndpointCostBeforeIt) {
  ScriptedServer server({{http(500, "")}, {http(200, kGood)}});
  ManualClock clock;
  SlowPermits permits(clock, Seconds(600), Seconds(3600));
  ClientTuning tuning = kQuick;
  tuning.clock = &clock;
  jobs::ModelSpec model_spec = spec(server.url());
  model_spec.retry_limit = Seconds(3600);
  const ChatReply reply = ChatClient(model_spec, wire_of(jobs::OpenAi{}), {}, &permits, tuning).complete(hello(), {});
  EXPECT_GE(reply.failing_s, 1200) << "two tries waited at an endpoint that was away";
  EXPECT_LT(reply.failing_s, 1201);
  EXPECT_GE(reply.wait_s, reply.failing_s + 7200);
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
  EXPECT_EQ(model.complete(hello(), {}).message.content, "it is [key]");
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
