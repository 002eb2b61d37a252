#include "runner/gated_model.hpp"

#include <gtest/gtest.h>

namespace nkigrid::runner {
namespace {

/// An endpoint at which a request takes an hour, most of it until somebody is there.
struct HourLong final : model::ChatModel {
  explicit HourLong(ManualClock& clock) : clock(clock) {}
  model::ChatReply complete(const model::ChatRequest&, std::stop_token) override {
    ++asked;
    clock.advance(Seconds(3600));
    if (fails) throw model::ChatError(*fails, "no reply");
    model::ChatReply reply;
    reply.failing_s = 3590;
    return reply;
  }
  ManualClock& clock;
  std::optional<model::ChatFailure> fails;
  int asked = 0;
};

struct GatedModelTest : testing::Test {
  ManualClock clock;
  HourLong endpoint{clock};
  bool open = true, outage = false;
  Seconds waited{0};
  GatedModel gated{endpoint,
                   clock,
                   {.may_begin = [this] { return open; },
                    .is_outage = [this](const model::ChatError&) { return outage; },
                    .waited = [this](Seconds time) { waited += time; }}};

  model::ChatFailure failure() {
    try {
      gated.complete({}, {});
    } catch (const model::ChatError& error) {
      return error.failure;
    }
    throw std::logic_error("a reply came");
  }
};

TEST_F(GatedModelTest, AReplyTellsWhatTheEndpointCostBeforeIt) {
  gated.complete({}, {});
  EXPECT_EQ(waited, Seconds(3590));
}

TEST_F(GatedModelTest, AllThatBroughtNoReplyIsTheEndpointsCost) {
  for (const auto kind : {model::ChatFailure::transient, model::ChatFailure::context_full}) {
    waited = Seconds(0);
    endpoint.fails = kind;
    EXPECT_EQ(failure(), kind);
    EXPECT_EQ(waited, Seconds(3600));
  }
}

TEST_F(GatedModelTest, AnOutageLeavesTheAttemptAsAStopDoes) {
  endpoint.fails = model::ChatFailure::away;
  EXPECT_EQ(failure(), model::ChatFailure::away);
  outage = true;
  EXPECT_EQ(failure(), model::ChatFailure::interrupted);
}

TEST_F(GatedModelTest, NobodyIsAskedForATurnThatMayNotBegin) {
  open = false;
  EXPECT_EQ(failure(), model::ChatFailure::interrupted);
  EXPECT_EQ(endpoint.asked, 0);
}

}  // namespace
}  // namespace nkigrid::runner
