#include "runner/shard_lock.hpp"

#include <gtest/gtest.h>

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
    EXPECT_EQ(error.code(), ErrorCode::config);
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

}  // namespace
}  // namespace nkigrid::runner
