#include "runner/permits.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace nkigrid::runner {
namespace {

jobs::Grid grid_with(std::uint32_t concurrency) {
  jobs::Grid grid;
  grid.models.push_back({.name = "m", .api = "openai", .concurrency = concurrency});
  return grid;
}

TEST(PermitOffice, NeverMoreOutThanTheLimitAndFirstComeFirstServed) {
  const auto grid = grid_with(2);
  PermitOffice office(grid);
  EXPECT_TRUE(office.want("m", 0));
  EXPECT_TRUE(office.want("m", 1));
  EXPECT_FALSE(office.want("m", 2));
  EXPECT_FALSE(office.want("m", 3));
  EXPECT_EQ(office.give_back("m"), 2);
  EXPECT_EQ(office.give_back("m"), 3);
  EXPECT_EQ(office.give_back("m"), -1);
  EXPECT_EQ(office.give_back("m"), -1);
  EXPECT_TRUE(office.want("m", 0));
}

TEST(PermitOffice, NoLimitGrantsAtOnce) {
  const auto grid = grid_with(0);
  PermitOffice office(grid);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(office.want("m", i));
}

TEST(RankPermits, ALaneWaitsForItsGrant) {
  std::atomic<int> wakes{0};
  RankPermits permits([&] { ++wakes; });
  std::jthread lane([&](std::stop_token stop) { EXPECT_TRUE(permits.acquire("m", stop)); });
  while (wakes == 0) std::this_thread::yield();
  EXPECT_EQ(permits.take_outgoing().wanted, std::vector<std::string>{"m"});
  permits.grant("m");
}

TEST(RankPermits, AGrantThatNobodyWaitsForGoesBack) {
  RankPermits permits([] {});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(permits.acquire("m", stop.get_token()));
  permits.grant("m");
  EXPECT_EQ(permits.take_outgoing().returned, std::vector<std::string>{"m"});
}

}  // namespace
}  // namespace nkigrid::runner
