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

TEST(Timeline, StoresToPartsOfOneOutputDoNotWaitForEachOther) {
  const double dma = profile_of(add_program(64, 16)).busy_us[index_of(Lane::dma)];
  ASSERT_LT(dma, 64 * 2.0);  // one after another they would take the documented 2 us each until they have arrived
  EXPECT_LT(timeline_of(add_program(64, 16), 10'000).us, 1.1 * dma + 10);
}

TEST(Timeline, LoadsOfPartsOfOneTileFollowItsFillAlone) {
  Made m;
  const auto x = m.param({128, 1024}), out = m.output({128, 1024});
  const auto tile = m.tile(BufferKind::sbuf, {128, 1024});
  m.program.body.push_back({1, map(Instr::memset, {128, 1024}, whole(tile, 2), {value(0)})});
  for (std::int64_t part = 0; part < 64; ++part) {
    const Access columns = access(tile, {at({1, 0}), at({0, 1}, aff(16 * part))});
    const Access there = access(x, {at({1, 0}), at({0, 1}, aff(16 * part))});
    m.program.body.push_back({2, map(Instr::load, {128, 16}, columns, {from(there)})});
  }
  m.program.body.push_back({3, map(Instr::store, {128, 1024}, whole(out, 2), {from(whole(tile, 2))})});
  const Timeline timeline = timeline_of(m.program, 100);
  ASSERT_EQ(timeline.events.size(), 66u);
  const auto& events = timeline.events;
  EXPECT_GE(events[1].begin_us, events[0].end_us);
  EXPECT_NEAR(events[64].end_us - events[1].begin_us, 64 * (events[1].end_us - events[1].begin_us), 1e-6);
  EXPECT_GE(events[65].begin_us, events[64].end_us + 2.0);
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
