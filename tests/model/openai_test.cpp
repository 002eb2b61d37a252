#include <gtest/gtest.h>

#include <atomic>

#include "runner/model/openai.hpp"
#include "tests/model/fixtures.hpp"
#include "tests/model/scripted_server.hpp"

namespace nkigrid::model {
namespace {

using test::http;
using test::ScriptedServer;
using test::Step;

const std::string kGood =
    R"({"choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}})";

constexpr OpenAiTuning kQuick{Seconds(0.002), Seconds(0.01), Seconds(0.2), Seconds(0.15), Seconds(0)};

jobs::ModelSpec spec(const std::string& endpoint) {
  jobs::ModelSpec model;
  model.name = "qwen";
  model.api = jobs::OpenAi{.remote = {.endpoint = endpoint}};
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

Failure failure_of(OpenAiModel& model, std::stop_token stop = {}) {
  try {
    model.complete(hello(), stop);
  } catch (const ChatError& error) {
    EXPECT_EQ(error.code(), ErrorCode::external);
    return {error.failure, error.what()};
  }
  return {};
}

TEST(OpenAiModel, PostsAndReadsAReplyOnOneKeptConnection) {
  ScriptedServer server({{http(200, kGood)}});
  OpenAiModel model(spec(server.url() + "/"), "sk-1", nullptr, kQuick);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(model.complete(hello(), {}).message.content, "hi");
  EXPECT_EQ(server.connections(), 1u);
  const std::string request = server.requests().front();
  EXPECT_TRUE(request.starts_with("POST /v1/chat/completions HTTP/1.1"));
  EXPECT_NE(request.find("authorization: Bearer sk-1"), std::string::npos);
  EXPECT_NE(request.find(R"({"messages":[{"content":"hello","role":"user"}],"model":"qwen"})"), std::string::npos);
}

TEST(OpenAiModel, RetriesLoadFaultsCutBodiesGarbageAndResets) {
  const std::string cut = "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"choices\":";
  ScriptedServer server({{http(429, "{}")},
                         {http(503, "busy")},
                         {cut, Step::After::close},
                         {http(200, "<html>"), Step::After::close},
                         {"", Step::After::close},
                         {http(200, R"({"error":{"message":"overloaded"}})")},
                         {http(200, kGood)}});
  OpenAiModel model(spec(server.url()), "", nullptr, kQuick);
  const ChatReply reply = model.complete(hello(), {});
  EXPECT_EQ(reply.message.content, "hi");
  EXPECT_EQ(reply.api_retries, 6u);
  EXPECT_GT(reply.wait_s, 0);
  EXPECT_EQ(server.requests().size(), 7u);
}

TEST(OpenAiModel, ABodyThatStandsStillIsGivenUpAndSentAgain) {
  ScriptedServer server({{"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{", Step::After::hang}, {http(200, kGood)}});
  OpenAiModel model(spec(server.url()), "", nullptr, kQuick);
  EXPECT_EQ(model.complete(hello(), {}).api_retries, 1u);
}

TEST(OpenAiModel, ASilentServerIsTransientAfterTheRetryLimit) {
  ScriptedServer server({{"", Step::After::hang}});
  jobs::ModelSpec slow = spec(server.url());
  slow.request_timeout = Seconds(0.05);
  slow.retry_limit = Seconds(0.2);
  OpenAiModel model(slow, "", nullptr, kQuick);
  const Failure failure = failure_of(model);
  EXPECT_EQ(failure.kind, ChatFailure::transient);
  EXPECT_NE(failure.text.find("retry_limit"), std::string::npos);
}

TEST(OpenAiModel, AuthenticationAndBadRequestsAreFatalAtOnce) {
  ScriptedServer server({{http(401, R"({"error":{"message":"bad key"}})")},
                         {http(404, R"({"message":"no such model"})")},
                         {http(400, R"({"error":{"message":"bad"}})")}});
  OpenAiModel model(spec(server.url()), "sk-secret", nullptr, kQuick);
  Failure failure = failure_of(model);
  EXPECT_EQ(failure.kind, ChatFailure::fatal);
  EXPECT_NE(failure.text.find("HTTP 401: bad key; check models.qwen.key"), std::string::npos);
  EXPECT_EQ(failure.text.find("sk-secret"), std::string::npos);
  EXPECT_NE(failure_of(model).text.find("no such model; check models.qwen.endpoint and models.qwen.model 'qwen'"),
            std::string::npos);
  EXPECT_EQ(failure_of(model).kind, ChatFailure::fatal);
  EXPECT_EQ(server.requests().size(), 3u);
}

TEST(OpenAiModel, TooLongIsAModelOutcomeAndIsNotRetried) {
  ScriptedServer server({{http(413, "")}});
  OpenAiModel model(spec(server.url()), "", nullptr, kQuick);
  EXPECT_EQ(failure_of(model).kind, ChatFailure::context_full);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(OpenAiModel, AContentFilterIsARefusal) {
  ScriptedServer server({{http(400, R"({"error":{"message":"filtered","code":"content_filter"}})")}});
  OpenAiModel model(spec(server.url()), "", nullptr, kQuick);
  EXPECT_EQ(model.complete(hello(), {}).finish, Finish::refused);
}

TEST(OpenAiModel, AnEndpointThatNeverAnsweredIsFatalAndSaysWhatToDo) {
  std::string dead;
  { dead = ScriptedServer({{""}}).url(); }  // a port that was just closed
  OpenAiModel model(spec(dead), "", nullptr, kQuick);
  const Failure failure = failure_of(model);
  EXPECT_EQ(failure.kind, ChatFailure::fatal);
  EXPECT_NE(failure.text.find(dead), std::string::npos);
  EXPECT_NE(failure.text.find("start the server, or correct models.qwen.endpoint"), std::string::npos);
}

TEST(OpenAiModel, AnEndpointThatIsNoUrlIsFatal) {
  for (const std::string endpoint : {"http://h:99999/v1", "gopher://127.0.0.1/v1"}) {
    OpenAiModel model(spec(endpoint), "", nullptr, kQuick);
    EXPECT_EQ(failure_of(model).kind, ChatFailure::fatal) << endpoint;
  }
}

TEST(OpenAiModel, AnEndpointThatDiedLaterIsTransient) {
  auto server = std::make_unique<ScriptedServer>(std::vector<Step>{{http(200, kGood), Step::After::close}});
  jobs::ModelSpec model_spec = spec(server->url());
  model_spec.retry_limit = Seconds(0.4);
  OpenAiModel model(model_spec, "", nullptr, kQuick);
  EXPECT_EQ(model.complete(hello(), {}).message.content, "hi");
  server.reset();
  EXPECT_EQ(failure_of(model).kind, ChatFailure::transient);
}

TEST(OpenAiModel, AStopInterruptsARequestInFlight) {
  ScriptedServer server({{"", Step::After::hang}});
  OpenAiModel model(spec(server.url()), "", nullptr, kQuick);
  std::stop_source stop;
  std::jthread stopper([&] {
    while (server.requests().empty()) std::this_thread::yield();
    stop.request_stop();
  });
  EXPECT_EQ(failure_of(model, stop.get_token()).kind, ChatFailure::interrupted);
}

TEST(OpenAiModel, AStopInterruptsALongWait) {
  ScriptedServer server({{http(429, "", "retry-after: 15\r\n")}});
  OpenAiModel model(spec(server.url()), "", nullptr, kQuick);
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

TEST(OpenAiModel, HoldsAPermitForEachTryAndGivesItBack) {
  ScriptedServer server({{http(503, "")}, {http(200, kGood)}, {http(401, "")}});
  CountingPermits permits;
  OpenAiModel model(spec(server.url()), "", &permits, kQuick);
  model.complete(hello(), {});
  EXPECT_EQ(permits.acquired, 2);
  EXPECT_EQ(failure_of(model).kind, ChatFailure::fatal);
  EXPECT_EQ(permits.acquired, permits.released);
}

TEST(MakeModel, BuildsTheSyntheticModelFromItsProfile) {
  jobs::ModelSpec model;
  model.name = "novice";
  model.api = jobs::Synthetic{.profile = "novice"};
  const auto made = make_model(model, test::seed_benchmark(), test::profiles_folder(), nullptr);
  ChatRequest request;
  request.messages = {{Role::user, "Task: L1/001_add", {}, "", false}};
  EXPECT_EQ(made->complete(request, {}).system_fingerprint, kSyntheticFingerprint);
}

}  // namespace
}  // namespace nkigrid::model
