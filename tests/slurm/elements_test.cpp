#include "slurm/elements.hpp"

#include <gmock/gmock.h>

#include "slurm/living.hpp"
#include "slurm/reasons.hpp"
#include "tests/slurm/submit_fixture.hpp"

namespace nkigrid::slurm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(Submit, AnElementSeesWhatElseLives) {
  submit({0, 1, 2});
  const auto array = client.records[0].comment;
  const auto seen = [&](std::vector<JobState> jobs) { return others_of(run, jobs, 101, 0); };
  auto all = seen(client.records);
  EXPECT_TRUE(all.aggregation);
  EXPECT_TRUE(all.waiting);
  const JobState self{.job = 101, .element = 0, .pending_elements = {}, .state = "RUNNING", .comment = array};
  JobState other{.job = 101, .element = 2, .pending_elements = {}, .state = "RUNNING", .comment = array};
  all = seen({self, other});
  EXPECT_FALSE(all.aggregation || all.waiting);
  EXPECT_THAT(all.shards, ElementsAre(2));
  other.state = "COMPLETING";
  EXPECT_THAT(seen({self, other}).shards, IsEmpty());
}

TEST_F(Submit, StatusKnowsTheAggregation) {
  submit({0});
  EXPECT_EQ(run_jobs(run, client).aggregation->state, "PENDING");
  client.records[1].state = "FAILED";
  client.records[1].reason = "its command failed, exit code 3";
  write_file_atomic(run.log_folder() / "aggregation-102.out", "nkigrid: the log is damaged\n");
  const auto failed = run_jobs(run, client).aggregation;
  EXPECT_EQ(failed->reason, "its command failed, exit code 3; it said: the log is damaged");
  EXPECT_FALSE(failed->active);
  client.records.clear();
  EXPECT_EQ(run_jobs(run, client).aggregation->state, "ENDED");
}

TEST_F(Submit, AdviceNamesTheJob) {
  submit({0});
  client.records[0].advice = "scontrol release JOB lets it start";
  EXPECT_EQ(run_jobs(run, client).elements[0].advice, "scontrol release 101_0 lets it start");
}

TEST_F(Submit, AJobThatWaitsForOthersSaysForWhich) {
  submit({0});
  for (auto& record : client.records) record.reason = reason_of(2).words;  // WAIT_DEPENDENCY
  const auto states = run_jobs(run, client);
  EXPECT_EQ(states.elements[0].reason, "waits for earlier elements of the run to end");
  EXPECT_EQ(states.aggregation->reason, "waits for the arrays to end");
}

TEST_F(Submit, ElementsShowStateReasonAndForgottenJobs) {
  submit({0, 1, 4});
  client.records[0] = {
      .job = 101, .element = 1, .pending_elements = {}, .state = "RUNNING", .comment = client.records[0].comment};
  const auto states = run_jobs(run, client).elements;
  ASSERT_EQ(states.size(), 3u);
  EXPECT_EQ(states[0].state, "ENDED");
  EXPECT_EQ(states[1].state, "RUNNING");
  EXPECT_EQ(states[2].shard, 4u);
  EXPECT_EQ(states[2].state, "PENDING");
  EXPECT_EQ(states[2].reason, "waits for free nodes");
}

TEST_F(Submit, AFailedElementShowsWhatItSaidLast) {
  submit({0});
  client.records[0] = {.job = 101,
                       .element = 0,
                       .pending_elements = {},
                       .state = "FAILED",
                       .reason = "its command failed, exit code 4",
                       .comment = client.records[0].comment};
  EXPECT_EQ(run_jobs(run, client).elements[0].reason, "its command failed, exit code 4");
  write_file_atomic(run.log_folder() / "element-101_0.out", "one\nthe device is gone\n \n");
  EXPECT_EQ(run_jobs(run, client).elements[0].reason, "its command failed, exit code 4; it said: the device is gone");
  write_file_atomic(run.log_folder() / "element-101_0.out", "nkigrid: no room\n-----\nmpirun ends the rest\n-----\n");
  EXPECT_THAT(run_jobs(run, client).elements[0].reason, HasSubstr("it said: no room"));
}

}  // namespace
}  // namespace nkigrid::slurm
