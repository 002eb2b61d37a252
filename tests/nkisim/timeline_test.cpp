#include <gtest/gtest.h>

#include <algorithm>

#include "runner/nkisim/estimate/estimate.hpp"
#include "runner/nkisim/estimate/timeline.hpp"
#include "tests/nkisim/make.hpp"

namespace nkigrid::nkisim {
namespace {

using namespace make;

TEST(Timeline, OperationsWaitForWhatTheyRead) {
  const Timeline timeline = timeline_of(add_program(1, 512), 100);
  ASSERT_EQ(timeline.events.size(), 4u);  // two loads, the sum, the store
  const auto& events = timeline.events;
  EXPECT_GE(events[1].begin_us, events[0].end_us);        // one lane
  EXPECT_GE(events[2].begin_us, events[1].end_us + 2.0);  // the documented 2 us until a transfer has arrived
  EXPECT_GE(events[3].begin_us, events[2].end_us);
  EXPECT_EQ(timeline.us, events[3].end_us + 2.0);
  EXPECT_TRUE(timeline.whole);
}

TEST(Timeline, TripsOverlapAsFarAsTheLanesLetThem) {
  const Profile sums = profile_of(add_program(64, 512));
  const Timeline timeline = timeline_of(add_program(64, 512), 10'000);
  const double dma = sums.busy_us[index_of(Lane::dma)], vector = sums.busy_us[index_of(Lane::vector)];
  EXPECT_GE(timeline.us, std::max(dma, vector));
  EXPECT_LT(timeline.us, 1.1 * std::max(dma, vector) + 10);
}

TEST(Timeline, ALaneDoesOneThingAtATime) {
  Timeline timeline = timeline_of(add_program(64, 512), 10'000);
  std::sort(timeline.events.begin(), timeline.events.end(),
            [](const TimelineEvent& a, const TimelineEvent& b) { return a.begin_us < b.begin_us; });
  double end[kLaneCount] = {};
  for (const TimelineEvent& event : timeline.events) {
    EXPECT_GE(event.begin_us, end[index_of(event.lane)] - 1e-9);
    end[index_of(event.lane)] = event.end_us;
  }
}

TEST(Timeline, MemoryThatIsDeclaredOnceIsWrittenAgainOnlyWhenItIsRead) {
  Program p = add_program(16, 512);
  Loop& loop = std::get<Loop>(p.body.back().what);
  Block outside(loop.body.begin(), loop.body.begin() + 3);  // its three tiles
  loop.body.erase(loop.body.begin(), loop.body.begin() + 3);
  p.body.insert(p.body.begin(), outside.begin(), outside.end());
  EXPECT_GT(timeline_of(p, 10'000).us, 1.5 * timeline_of(add_program(16, 512), 10'000).us);
}

TEST(Timeline, EndsAtTheLimit) {
  const Timeline timeline = timeline_of(add_program(1'000'000'000, 16), 1000);
  EXPECT_EQ(timeline.events.size(), 1000u);
  EXPECT_FALSE(timeline.whole);
}

}  // namespace
}  // namespace nkigrid::nkisim
