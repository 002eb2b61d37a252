#include "runner/model/hand_over.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace nkigrid::model {
namespace {

TEST(HandOver, FirstComeFirstServed) {
  std::mutex mutex;
  HandOver line;
  std::vector<int> served;
  std::vector<std::jthread> lanes;
  const auto waiting = [&] {
    const std::lock_guard lock(mutex);
    return line.size();
  };
  for (int i = 0; i < 5; ++i) {
    lanes.emplace_back([&, i] {
      std::unique_lock lock(mutex);
      EXPECT_TRUE(line.wait(lock, {}));
      served.push_back(i);
    });
    while (waiting() != static_cast<std::size_t>(i) + 1) std::this_thread::yield();
  }
  for (auto& lane : lanes) {
    {
      const std::lock_guard lock(mutex);
      EXPECT_TRUE(line.pass());
    }
    lane.join();
  }
  EXPECT_EQ(served, (std::vector{0, 1, 2, 3, 4}));
  EXPECT_FALSE(line.pass());
}

TEST(HandOver, WhoeverIsStoppedLeavesTheLine) {
  std::mutex mutex;
  HandOver line;
  std::stop_source stop;
  stop.request_stop();
  std::unique_lock lock(mutex);
  EXPECT_FALSE(line.wait(lock, stop.get_token()));
  EXPECT_EQ(line.size(), 0u);
  EXPECT_FALSE(line.pass());
}

}  // namespace
}  // namespace nkigrid::model
