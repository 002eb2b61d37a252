#include "runner/circuit.hpp"

#include <gtest/gtest.h>

#include "runner/endpoint_gate.hpp"

namespace nkigrid::runner {
namespace {

TEST(Circuit, AnEndpointThatWorksLetsEverythingThrough) {
  Circuit circuit;
  circuit.heard(200, Seconds(1));
  circuit.heard(404, Seconds(2));  // a fault of the request
  EXPECT_TRUE(circuit.may_send(Seconds(3)));
  EXPECT_FALSE(circuit.failing_since());
}

TEST(Circuit, AfterFiveMinutesItIsProbedOnceAMinute) {
  for (const int status : {0, 429, 500, 503}) {
    Circuit circuit;
    circuit.heard(status, Seconds(10));
    EXPECT_TRUE(circuit.may_send(Seconds(309)));
    EXPECT_TRUE(circuit.may_send(Seconds(310))) << "the first probe";
    EXPECT_FALSE(circuit.may_send(Seconds(311)));
    EXPECT_EQ(circuit.until_probe(Seconds(311)), Seconds(59));
    EXPECT_FALSE(circuit.may_send(Seconds(369)));
    circuit.heard(status, Seconds(369));
    EXPECT_TRUE(circuit.may_send(Seconds(370)));
    circuit.heard(200, Seconds(371));
    for (int i = 0; i < 9; ++i) EXPECT_TRUE(circuit.may_send(Seconds(372)));
  }
}

/// Permits that count.
struct Counting final : model::Permits {
  int out = 0;
  bool acquire(const std::string&, std::stop_token) override { return ++out, true; }
  void release(const std::string&) override { --out; }
};

jobs::ModelSpec served(const char* name, const char* endpoint, std::uint32_t concurrency) {
  return {.name = name, .api = jobs::OpenAi{.remote = {.endpoint = endpoint}}, .concurrency = concurrency};
}

struct Gate : testing::Test {
  jobs::Grid grid;
  Counting permits;
  ManualClock clock;
  std::map<std::string, std::string> notes, narrow;
  std::optional<EndpointGate> gate;
  Gate() {
    grid.models = {served("a", "http://h/v1", 2), served("b", "http://h/v1", 0), served("c", "http://h2/v1", 0)};
    gate.emplace(grid, permits, clock,
                 [this](const std::string& model, const std::string& text, log::EndpointNote kind) {
                   auto& into = kind == log::EndpointNote::away ? notes : narrow;
                   if (text.empty())
                     into.erase(model);
                   else
                     into[model] = text;
                 });
  }
};

TEST_F(Gate, OnlyModelsWithALimitCostPermits) {
  EXPECT_TRUE(gate->acquire("a", {}));
  EXPECT_TRUE(gate->acquire("b", {}));
  EXPECT_EQ(permits.out, 1);
  gate->release("a");
  gate->release("b");
  EXPECT_EQ(permits.out, 0);
}

TEST_F(Gate, AnOutageGivesUpItsModelAndNoOther) {
  EXPECT_FALSE(gate->given_up("a"));
  gate->give_up("a");
  EXPECT_FALSE(gate->reach("a", {}));
  EXPECT_TRUE(gate->given_up("a"));
  EXPECT_TRUE(gate->reach("b", {})) << "a server may serve one of its models and not another";
  EXPECT_FALSE(gate->given_up("b"));
}

TEST_F(Gate, AnEndpointThatFailsForAWhileIsNotedUntilItWorks) {
  gate->heard("c", 503);
  EXPECT_TRUE(notes.empty());
  clock.advance(Seconds(31));
  gate->heard("c", 503);
  EXPECT_EQ(notes.at("c"), "has given no reply since 2025-06-15T15:06:40Z (HTTP 503)");
  gate->heard("c", 200);
  EXPECT_TRUE(notes.empty());
  gate->heard("c", 0);
  clock.advance(Seconds(31));
  gate->heard("c", 0);
  gate.reset();
  EXPECT_TRUE(notes.empty()) << "a session takes its notes with it";
}

TEST_F(Gate, HowManyAnEndpointTakesIsNotedUntilItTakesAll) {
  gate->narrowed("c", 0);
  EXPECT_TRUE(narrow.empty());
  gate->narrowed("c", 4);
  EXPECT_EQ(narrow.at("c"), "takes 4 at once from one process");
  gate->narrowed("c", 5);
  EXPECT_EQ(narrow.at("c"), "takes 4 at once from one process") << "no file for each reply";
  clock.advance(Seconds(6));
  gate->narrowed("c", 6);
  EXPECT_EQ(narrow.at("c"), "takes 6 at once from one process");
  gate->narrowed("c", 0);
  EXPECT_TRUE(narrow.empty());
  gate->narrowed("c", 2);
  gate.reset();
  EXPECT_TRUE(narrow.empty()) << "a session takes its notes with it";
  EXPECT_TRUE(notes.empty());
}

TEST_F(Gate, ALaneThatWaitsForAProbeEndsWithADrain) {
  gate->heard("b", 0);
  clock.advance(Circuit::kOpenAfter);
  EXPECT_TRUE(gate->reach("b", {})) << "the probe";
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(gate->reach("b", stop.get_token()));
}

}  // namespace
}  // namespace nkigrid::runner
