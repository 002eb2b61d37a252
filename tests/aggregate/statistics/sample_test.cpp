#include "aggregate/statistics/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/base/error.hpp"

namespace nkigrid::aggregate {
namespace {

TEST(Sample, UnequalReplicatesMeetOnTheirCommonMultiple) {
  const std::vector<TaskCount> tasks{{1, 2, 0}, {1, 3, 0}, {3, 4, 1}};
  const auto denominator = common_denominator(tasks, tasks.size());
  EXPECT_EQ(denominator, 12);
  std::vector<std::int64_t> scores;
  for (const auto& task : tasks) scores.push_back(scaled_score(task, denominator));
  const auto sample = group_by_stratum(denominator, tasks, scores);
  EXPECT_THAT(sample.strata, testing::ElementsAre(testing::ElementsAre(6, 4), testing::ElementsAre(9)));
  EXPECT_EQ(sample.sum(), 19);
}

TEST(Sample, ReplicatesWithoutASmallCommonMultipleAreRefused) {
  const std::vector<TaskCount> tasks{{1, 9973, 0}, {1, 9967, 0}};
  try {
    common_denominator(tasks, tasks.size());
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("no common multiple under 2097152"));
  }
}

}  // namespace
}  // namespace nkigrid::aggregate
