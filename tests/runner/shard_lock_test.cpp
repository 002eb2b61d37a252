#include "runner/shard_lock.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "jobs/base/error.hpp"

namespace nkigrid::runner {
namespace {

TEST(ShardLock, ASecondOwnerOfAShardIsRefusedByName) {
  TemporaryDirectory run;
  const ShardLock first(run.path(), ShardId{1}, 4);
  const ShardLock other(run.path(), ShardId{2}, 4);
  try {
    const ShardLock second(run.path(), ShardId{1}, 4);
    FAIL() << "two owners";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::external);
    EXPECT_NE(std::string(error.what()).find("shard 1"), std::string::npos);
  }
}

TEST(ShardLock, AllShardsTogetherAreRefusedWhileOneIsHeld) {
  TemporaryDirectory run;
  const ShardLock one(run.path(), ShardId{3}, 4);
  EXPECT_THROW(ShardLock(run.path(), std::nullopt, 4), Error);
}

TEST(ShardLock, IsFreeAgainWhenItsOwnerIsGone) {
  TemporaryDirectory run;
  { const ShardLock first(run.path(), std::nullopt, 4); }
  const ShardLock second(run.path(), ShardId{0}, 4);
}

TEST(ShardLock, CountsItsOwners) {
  TemporaryDirectory run;
  EXPECT_EQ(ShardLock(run.path(), ShardId{1}, 4).owner(), 1u);
  EXPECT_EQ(ShardLock(run.path(), ShardId{1}, 4).owner(), 2u);
  EXPECT_EQ(ShardLock(run.path(), std::nullopt, 4).owner(), 3u) << "the highest of its shards";
  EXPECT_EQ(ShardLock(run.path(), ShardId{0}, 4).owner(), 2u);
}

TEST(ShardLock, WaitsForAPredecessorThatIsOnItsWayOut) {
  TemporaryDirectory run;
  std::optional<ShardLock> first(std::in_place, run.path(), ShardId{0}, 1);
  std::jthread ends([&] { first.reset(); });
  EXPECT_EQ(ShardLock(run.path(), ShardId{0}, 1, Seconds(60)).owner(), 2u);
}

}  // namespace
}  // namespace nkigrid::runner
