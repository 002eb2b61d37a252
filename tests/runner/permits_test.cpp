#include "runner/permits.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace nkigrid::runner {
namespace {

jobs::Grid grid_with(std::uint32_t concurrency) {
  jobs::Grid grid;
  grid.models.push_back({.name = "m", .api = jobs::OpenAi{}, .concurrency = concurrency});
  grid.cells.push_back({.id = "m.s.p", .model = "m"});
  return grid;
}

jobs::ModelApi served_by(const std::string& endpoint) { return jobs::OpenAi{.remote = {.endpoint = endpoint}}; }

/// Two models of one server and key, and one elsewhere.
jobs::Grid grid_of_neighbours() {
  jobs::Grid grid;
  grid.models = {{.name = "a", .api = served_by("http://h/v1"), .concurrency = 3},
                 {.name = "b", .api = served_by("http://h/v1"), .concurrency = 1},
                 {.name = "c", .api = served_by("http://h2/v1"), .concurrency = 1}};
  for (const char* name : {"a", "b", "c"}) grid.cells.push_back({.id = std::string(name) + ".s.p", .model = name});
  return grid;
}

PermitOffice::Grant to(std::string model, int rank) { return {std::move(model), rank}; }

TEST(PermitOffice, NeverMoreOutThanTheLimitAndFirstComeFirstServed) {
  PermitOffice office(grid_with(2));
  EXPECT_TRUE(office.want("m", 0));
  EXPECT_TRUE(office.want("m", 1));
  EXPECT_FALSE(office.want("m", 2));
  EXPECT_FALSE(office.want("m", 3));
  EXPECT_EQ(office.give_back("m"), to("m", 2));
  EXPECT_EQ(office.give_back("m"), to("m", 3));
  EXPECT_EQ(office.give_back("m"), std::nullopt);
  EXPECT_EQ(office.give_back("m"), std::nullopt);
  EXPECT_TRUE(office.want("m", 0));
}

TEST(PermitOffice, NoLimitGrantsAtOnce) {
  PermitOffice office(grid_with(0));
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(office.want("m", i));
}

TEST(PermitOffice, ModelsOfOneEndpointShareItAndKeepTheirOwnLimit) {
  PermitOffice office(grid_of_neighbours());
  EXPECT_TRUE(office.want("b", 0));
  EXPECT_FALSE(office.want("b", 1)) << "b's own limit";
  EXPECT_TRUE(office.want("a", 2));
  EXPECT_TRUE(office.want("a", 3));
  EXPECT_FALSE(office.want("a", 4)) << "three are out at this endpoint";
  EXPECT_TRUE(office.want("c", 5)) << "another endpoint";
  EXPECT_EQ(office.give_back("a"), to("a", 4)) << "b waits longer, but b has no room";
  EXPECT_EQ(office.give_back("b"), to("b", 1));
}

TEST(PermitOffice, AnElementKeepsToItsPart) {
  PermitOffice office(grid_with(5), {.shard = 1, .at_once = 3});  // 2, 2 and 1
  EXPECT_TRUE(office.want("m", 0));
  EXPECT_TRUE(office.want("m", 0));
  EXPECT_FALSE(office.want("m", 0));
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

TEST(RankPermits, BesideTheOfficeALaneIsGrantedWhatIsThereAtOnce) {
  PermitOffice office(grid_with(1));
  std::atomic<int> wakes{0};
  RankPermits permits([&] { ++wakes; }, &office);
  EXPECT_TRUE(permits.acquire("m", {}));
  permits.release("m");
  EXPECT_TRUE(permits.acquire("m", {}));
  EXPECT_EQ(wakes, 0) << "nobody else is asked";
  EXPECT_FALSE(office.want("m", 3));
  permits.release("m");
  EXPECT_EQ(permits.take_outgoing().granted, std::vector{to("m", 3)}) << "whoever waits comes first";
  EXPECT_FALSE(office.take("m"));
}

TEST(RankPermits, BesideTheOfficeALaneWaitsInLineWhereNothingIsLeft) {
  PermitOffice office(grid_with(1));
  std::atomic<int> wakes{0};
  RankPermits permits([&] { ++wakes; }, &office);
  EXPECT_TRUE(permits.acquire("m", {}));
  std::jthread lane([&](std::stop_token stop) { EXPECT_TRUE(permits.acquire("m", stop)); });
  while (wakes == 0) std::this_thread::yield();
  EXPECT_EQ(permits.take_outgoing().wanted, std::vector<std::string>{"m"});
  EXPECT_FALSE(office.want("m", 0));
  permits.release("m");
  EXPECT_EQ(permits.take_outgoing().granted, std::vector{to("m", 0)});
  permits.grant("m");
}

TEST(OwnPermits, AreAnEqualPartOfTheElementsAndNoneWhereModelsShare) {
  EXPECT_EQ(own_permits(grid_with(7), {}, 0, 2), (OwnPermits{{"m", 4}}));
  EXPECT_EQ(own_permits(grid_with(7), {}, 1, 2), (OwnPermits{{"m", 3}}));
  EXPECT_EQ(own_permits(grid_with(7), {.shard = 1, .at_once = 2}, 0, 3), (OwnPermits{{"m", 1}}));
  EXPECT_TRUE(own_permits(grid_with(2), {}, 0, 3).empty()) << "one rank would have none";
  EXPECT_EQ(own_permits(grid_of_neighbours(), {}, 0, 1), (OwnPermits{{"c", 1}}));
}

/// Until so many wants were sent.
void await_wants(RankPermits& permits, std::size_t count) {
  for (std::size_t seen = 0; seen < count; std::this_thread::yield()) seen += permits.take_outgoing().wanted.size();
}

TEST(RankPermits, WithinItsPartARankPassesOnWithoutAWord) {
  RankPermits permits([] {}, nullptr, {{"m", 1}});
  std::jthread first([&] { EXPECT_TRUE(permits.acquire("m", {})); });
  await_wants(permits, 1);
  permits.grant("m");
  first.join();
  std::jthread second([&] { EXPECT_TRUE(permits.acquire("m", {})); });
  await_wants(permits, 1);
  permits.release("m");
  second.join();
  EXPECT_TRUE(permits.take_outgoing().returned.empty());
  permits.grant("m");  // what the second lane asked for, which nobody needs now
  EXPECT_EQ(permits.take_outgoing().returned, std::vector<std::string>{"m"});
}

TEST(RankPermits, WhatIsAboveItsPartGoesBackAlthoughALaneWaits) {
  RankPermits permits([] {}, nullptr, {{"m", 1}});
  std::vector<std::jthread> lanes;
  for (int i = 0; i < 2; ++i) lanes.emplace_back([&] { EXPECT_TRUE(permits.acquire("m", {})); });
  await_wants(permits, 2);
  for (int i = 0; i < 2; ++i) permits.grant("m");
  lanes.clear();
  std::jthread third([&] { EXPECT_TRUE(permits.acquire("m", {})); });
  await_wants(permits, 1);
  permits.release("m");
  EXPECT_EQ(permits.take_outgoing().returned, std::vector<std::string>{"m"});
  permits.release("m");  // the last within its part
  third.join();
  EXPECT_TRUE(permits.take_outgoing().returned.empty());
}

}  // namespace
}  // namespace nkigrid::runner
