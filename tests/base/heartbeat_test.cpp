#include "jobs/base/heartbeat.hpp"

#include <gtest/gtest.h>

#include <future>
#include <string>

namespace nkigrid {
namespace {

TEST(Heartbeat, SaysWhatIsBeingDoneUntilItIsDone) {
  std::promise<std::string> first;
  int beats = 0;
  {
    const Heartbeat beat("reading 3 files", Seconds(0.001), [&](const std::string& words) {
      if (++beats == 1) first.set_value(words);
    });
    EXPECT_EQ(first.get_future().get(), "reading 3 files: 0 s");
  }
  EXPECT_GE(beats, 1);
}

TEST(Heartbeat, SaysNothingOfWhatIsShort) {
  int beats = 0;
  {
    const Heartbeat beat("reading", Seconds(3600), [&](const std::string&) { ++beats; });
  }
  {
    const Heartbeat unheard("", Seconds(0.001), [&](const std::string&) { ++beats; });
  }
  EXPECT_EQ(beats, 0);
}

}  // namespace
}  // namespace nkigrid
