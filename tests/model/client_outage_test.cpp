// An endpoint that is away, slow or full: who is blamed, who asks, what is waited for (docs/decisions/outages.md).
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>

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

}  // namespace
}  // namespace nkigrid::model
