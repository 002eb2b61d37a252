#include "slurm/reasons.hpp"

#include <gmock/gmock.h>

namespace nkigrid::slurm {
namespace {

using testing::HasSubstr;

TEST(Reasons, EveryNumberThatSlurmNamesHasWords) {
  EXPECT_EQ(reason_of(0).words, "");
  for (std::uint32_t number = 1; number <= 198; ++number) {
    EXPECT_FALSE(reason_of(number).words.empty()) << number;
    EXPECT_THAT(reason_of(number).words, testing::Not(HasSubstr("  "))) << number;
    EXPECT_THAT(reason_of(number).words, testing::Not(HasSubstr("reason"))) << number;
  }
}

/// The numbers are those of Slurm 22.05's enum job_state_reason.
TEST(Reasons, NumbersMeanWhatSlurmsHeaderSays) {
  EXPECT_EQ(reason_of(3).words, "waits for free nodes");
  EXPECT_EQ(reason_of(21).words, "no node can ever fulfil what it asks for");                // FAIL_BAD_CONSTRAINTS
  EXPECT_EQ(reason_of(40).words, "the limit on CPUs of its quality of service is reached");  // WAIT_QOS_GRP_CPU
  EXPECT_EQ(reason_of(49).words,
            "asks for more minutes of CPUs a job than its quality of service allows");  // WAIT_QOS_MAX_CPU_MINS_PER_JOB
  EXPECT_EQ(reason_of(51).advice, "lower slurm.time, then cancel and resume");          // WAIT_QOS_MAX_WALL_PER_JOB
  EXPECT_EQ(reason_of(70).words, "the limit on submitted jobs of its account is reached");  // WAIT_ASSOC_MAX_SUB_JOB
  EXPECT_EQ(reason_of(72).words, "the array's throttle is reached");                        // WAIT_ARRAY_TASK_LIMIT
  EXPECT_EQ(reason_of(178).words, "the partition's limits do not allow it");                // WAIT_PART_CONFIG
  EXPECT_EQ(reason_of(182).advice, "lower slurm.mem, then cancel and resume");              // WAIT_PN_MEM_LIMIT
  EXPECT_EQ(reason_of(198).words, "its reservation was deleted");                           // WAIT_RESV_DELETED
}

TEST(Reasons, AnErrorOfACallNamesTheKeyThatItIsAbout) {
  EXPECT_EQ(advice_for_error(2000), "look at slurm.partition");  // ESLURM_INVALID_PARTITION_NAME
  EXPECT_EQ(advice_for_error(2072), "look at slurm.gres");       // ESLURM_INVALID_GRES
  EXPECT_THAT(std::string(advice_for_error(5004)), HasSubstr("doctor"));
}

TEST(Reasons, AnAdviceIsForOneJob) {
  EXPECT_EQ(for_job("scontrol release JOB lets it start", "12_3"), "scontrol release 12_3 lets it start");
  EXPECT_EQ(for_job("wait", "12"), "wait");
}

TEST(Reasons, AnUnknownNumberKeepsSlurmsWords) {
  EXPECT_EQ(reason_of(999).words, "Slurm's reason 999");
  EXPECT_EQ(reason_of(999, "moon phase").words, "Slurm says 'moon phase' (reason 999)");
}

TEST(Reasons, AHoldIsWhoseItIs) {
  EXPECT_EQ(reason_of(16).words, "held by its user");  // WAIT_HELD_USER
  EXPECT_EQ(reason_of(16).advice, "scontrol release JOB lets it start");
  EXPECT_EQ(reason_of(8).words, "held by an administrator");  // WAIT_HELD
  // slurmctld's own words for a batch job that failed at its start, requeued and held.
  EXPECT_EQ(reason_of(16, "launch failed requeued held").words, "held by Slurm: launch failed requeued held");
  EXPECT_THAT(reason_of(16, "launch failed requeued held").advice, HasSubstr("scontrol release JOB"));
}

}  // namespace
}  // namespace nkigrid::slurm
