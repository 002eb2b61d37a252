#include "jobs/base/clock.hpp"

#include <gtest/gtest.h>

namespace nkigrid {
namespace {

TEST(Clock, AManualClockMovesOnlyWhenTold) {
  ManualClock clock(1000);
  EXPECT_EQ(clock.unix_seconds(), 1000);
  EXPECT_EQ(clock.monotonic(), Seconds(0));
  clock.advance(Seconds(2.5));
  EXPECT_EQ(clock.unix_seconds(), 1002.5);
  EXPECT_EQ(clock.monotonic(), Seconds(2.5));
}

TEST(Clock, TheSystemClockReadsUnixTimeAndNeverRunsBack) {
  const SystemClock clock;
  EXPECT_GT(clock.unix_seconds(), 1.7e9);  // end of 2023: seconds, not milliseconds, since 1970
  EXPECT_LT(clock.unix_seconds(), 5e9);
  const auto first = clock.monotonic();
  EXPECT_GE(clock.monotonic(), first);
}

}  // namespace
}  // namespace nkigrid
