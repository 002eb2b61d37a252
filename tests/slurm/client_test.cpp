// The client against a library of our own that has a controller's bad manners; built with the header of a release
// (ERA_MAJOR, ERA_MINOR).
#include <slurm/slurm.h>

#include <gmock/gmock.h>

#include <cstring>
#include <deque>
#include <memory>
#include <string>

#include "jobs/base/error.hpp"
#include "slurm/plugin.hpp"

extern "C" nkigrid::slurm::Client* nkigrid_slurm_client();

namespace {

/// How the controller answers one submit.
struct Manners {
  int error = 0;            ///< of the call, or with `accepted` inside the response
  bool accepted = true;     ///< the job is in the table afterwards
  bool answers = true;      ///< a response comes back
  bool fails = false;       ///< the accepted job has failed by the time of the answer
  std::string prints = {};  ///< what the library prints itself
};

/// The whole cluster.
struct Controller {
  std::deque<Manners> next;  ///< for the submits to come; then all is well
  int submits = 0;
  std::vector<std::string> environment, killed, changed;
  std::deque<std::string> comments;  ///< of the jobs 101, 102, ...
  std::vector<slurm_job_info_t> jobs;

  std::uint32_t add(const std::string& comment) {
    slurm_job_info_t job = {};
    job.job_id = static_cast<std::uint32_t>(101 + jobs.size());
    job.array_task_id = NO_VAL;
    job.job_state = JOB_PENDING;
    job.comment = comments.emplace_back(comment).data();
    jobs.push_back(job);
    return job.job_id;
  }
} controller;

void set_job(submit_response_msg_t& response, std::uint32_t job) {
#if ERA_SINCE(25, 11)
  response.step_id.job_id = job;
#else
  response.job_id = job;
#endif
}

}  // namespace

extern "C" {
void slurm_init(const char*) {}
void slurm_fini(void) {}
void slurm_init_job_desc_msg(job_desc_msg_t* message) { *message = {}; }
int slurm_submit_batch_job(job_desc_msg_t* message, submit_response_msg_t** response) {
  ++controller.submits;
  const auto manners = controller.next.empty() ? Manners{} : controller.next.front();
  if (!controller.next.empty()) controller.next.pop_front();
  if (!manners.prints.empty()) fprintf(stderr, "nkigrid: error: %s\n", manners.prints.c_str());
  controller.environment.assign(message->environment, message->environment + message->env_size);
  const auto job = manners.accepted ? controller.add(message->comment) : 0;
  if (manners.fails) controller.jobs.back().job_state = JOB_FAILED;
  if (manners.answers && manners.accepted) {
    *response = new submit_response_msg_t{};
    set_job(**response, job);
    (*response)->error_code = static_cast<std::uint32_t>(manners.error);
    return SLURM_SUCCESS;
  }
  errno = manners.error;
  return manners.error == 0 ? SLURM_SUCCESS : -1;
}
int slurm_job_will_run2(job_desc_msg_t*, will_run_response_msg_t**) {
  const auto manners = controller.next.empty() ? Manners{} : controller.next.front();
  if (!manners.prints.empty()) fprintf(stderr, "nkigrid: error: %s\n", manners.prints.c_str());
  errno = manners.error;
  return manners.error == 0 ? SLURM_SUCCESS : -1;
}
void slurm_free_submit_response_response_msg(submit_response_msg_t* response) { delete response; }
int slurm_load_jobs(time_t, job_info_msg_t** message, uint16_t) {
  *message = new job_info_msg_t{};
  (*message)->record_count = static_cast<std::uint32_t>(controller.jobs.size());
  (*message)->job_array = controller.jobs.data();
  return SLURM_SUCCESS;
}
void slurm_free_job_info_msg(job_info_msg_t* message) { delete message; }
int slurm_load_partitions(time_t, partition_info_msg_t** message, uint16_t) {
  static int32_t places[] = {1, 2, 4, 4, -1};
  static partition_info_t partition = {};
  partition.name = const_cast<char*>("trn1");
  partition.node_inx = places;
  partition.total_nodes = 3;
  *message = new partition_info_msg_t{0, 1, &partition};
  return SLURM_SUCCESS;
}
void slurm_free_partition_info_msg(partition_info_msg_t* message) { delete message; }
int slurm_load_node(time_t, node_info_msg_t** message, uint16_t) {
  static char names[][2] = {"a", "b", "c", "d", "e"};
  static node_info_t nodes[5];
  for (std::uint16_t i = 0; i < 5; ++i) nodes[i] = {names[i], i, 1000U * i, i == 4 ? NODE_STATE_DRAIN | 2U : 2U};
  *message = new node_info_msg_t{0, 5, nodes};
  return SLURM_SUCCESS;
}
void slurm_free_node_info_msg(node_info_msg_t* message) { delete message; }
int slurm_kill_job2(const char* job, uint16_t, uint16_t, const char*) {
  controller.killed.emplace_back(job);
  errno = ESLURM_INVALID_JOB_ID;
  return std::string(job) == "7" ? -1 : SLURM_SUCCESS;
}
int slurm_update_job2(job_desc_msg_t* change, job_array_resp_msg_t**) {
  controller.changed.push_back(std::string(change->job_id_str) + " without " + change->exc_nodes);
  errno = std::string(change->job_id_str) == "7" ? ESLURM_JOB_NOT_PENDING : ESLURM_INVALID_JOB_ID;
  return std::string(change->job_id_str) == "101" ? SLURM_SUCCESS : -1;
}
void slurm_free_job_array_resp(job_array_resp_msg_t*) {}
int slurm_load_ctl_conf(time_t, slurm_conf_t**) { return -1; }
#if ERA_SINCE(26, 5)
void slurm_free_conf(slurm_conf_t*) {}
long slurm_get_rem_time(slurm_step_id_t) { return -1; }
#else
void slurm_free_ctl_conf(slurm_conf_t*) {}
long slurm_get_rem_time(uint32_t) { return -1; }
#endif
char* slurm_strerror(int) { return const_cast<char*>("an error"); }
}

namespace nkigrid::slurm {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

struct LibslurmClient : testing::Test {
  std::unique_ptr<Client> client{nkigrid_slurm_client()};
  JobRequest request{.name = "n",
                     .comment = "nkigrid feed elements 1.0 from 0, 1 at once",
                     .script = "#!/bin/sh\n",
                     .work_folder = "/",
                     .output = "/tmp/o",
                     .environment = {"PATH=/bin"},
                     .array = "0-1",
                     .dependency = {},
                     .resources = {}};
  LibslurmClient() { controller = {}; }
  std::string refusal() {
    try {
      client->submit(request);
      return "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::external);
      return error.what();
    }
  }
};

TEST_F(LibslurmClient, ACallThatWorkedAndSaidNothingIsLookedUp) {
  controller.next = {{.error = 0, .answers = false}};
  EXPECT_EQ(client->submit(request), 101u);
  EXPECT_EQ(controller.submits, 1);
}

TEST_F(LibslurmClient, ATimeOutAfterTheJobWasTakenMakesNoSecondOne) {
  controller.next = {{.error = SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT, .answers = false}};
  EXPECT_EQ(client->submit(request), 101u);
  EXPECT_EQ(controller.submits, 1);
}

TEST_F(LibslurmClient, ATimeOutBeforeTheJobWasTakenIsTriedAgain) {
  controller.next = {{.error = SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT, .accepted = false}};
  EXPECT_EQ(client->submit(request), 101u);
  EXPECT_EQ(controller.submits, 2);
}

TEST_F(LibslurmClient, AnErrorBesideAnAcceptedJobEndsTheJobAndIsTold) {
  controller.next = {{.error = 2099}};
  EXPECT_THAT(refusal(), HasSubstr("start job 'n' as asked"));
  EXPECT_THAT(controller.killed, ElementsAre("101"));
}

TEST_F(LibslurmClient, AJobThatWaitsForNodesToComeBackIsKept) {
  controller.next = {{.error = ESLURM_NODE_NOT_AVAIL}};
  EXPECT_EQ(client->submit(request), 101u);
  EXPECT_TRUE(controller.killed.empty());
}

TEST_F(LibslurmClient, AHeldJobIsASubmittedJob) {
  controller.next = {{.error = ESLURM_JOB_HELD}};
  EXPECT_EQ(client->submit(request), 101u);
  EXPECT_TRUE(controller.killed.empty());
}

TEST_F(LibslurmClient, ACopysJobOfTheSameCommentIsNotTakenForOurs) {
  controller.add(request.comment);
  controller.jobs[0].work_dir = const_cast<char*>("/original");
  controller.next = {{.error = SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT, .accepted = false}};
  EXPECT_EQ(client->submit(request), 102u);
  EXPECT_EQ(client->jobs(request.comment)[0].work_folder, "/original");
}

TEST_F(LibslurmClient, AJobThatCanNeverStartIsToldAtOnce) {
  controller.next = {{.error = ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE, .fails = true}};
  EXPECT_THAT(refusal(), HasSubstr("start job 'n' as asked"));
}

TEST_F(LibslurmClient, AFailedJobHasItsReasonAndExitCode) {
  controller.add(request.comment);
  auto& job = controller.jobs.back();
  job.job_state = JOB_FAILED;
  job.state_reason = 24;
  job.exit_code = 4 << 8;
  EXPECT_EQ(client->jobs(request.comment)[0].reason, "its command failed, exit code 4");
  job.state_reason = 21;
  job.exit_code = 1;
  EXPECT_EQ(client->jobs(request.comment)[0].reason, "no node can ever fulfil what it asks for");
  job.state_reason = 23;
  job.exit_code = 9;
  job.start_time = job.end_time = 1000;
  EXPECT_EQ(client->jobs(request.comment)[0].reason, "could not be launched");
  job.end_time = 1007;
  EXPECT_EQ(client->jobs(request.comment)[0].reason, "killed by signal 9") << "it worked for 7 s";
  EXPECT_EQ(client->jobs(request.comment)[0].advice, "");
}

TEST_F(LibslurmClient, KnowsTheSizesOfAPartitionsNodes) {
  const auto partitions = client->partitions();
  ASSERT_EQ(partitions.size(), 1u);
  ASSERT_EQ(partitions[0].sizes.size(), 3u);
  EXPECT_EQ(partitions[0].sizes[2].name, "e");
  EXPECT_EQ(partitions[0].sizes[1].cpus, 2u);
  EXPECT_EQ(partitions[0].sizes[2].memory, 4000u);
  EXPECT_TRUE(partitions[0].sizes[2].away && !partitions[0].sizes[1].away) << "drained";
}

TEST_F(LibslurmClient, ARefusalIsNotTriedAgain) {
  controller.next = {{.error = 2000, .accepted = false}};
  EXPECT_THAT(refusal(), HasSubstr("error 2000"));
  EXPECT_EQ(controller.submits, 1);
}

TEST_F(LibslurmClient, WhatTheLibraryPrintsGoesIntoTheMessage) {
  controller.next = {{.error = 2066, .accepted = false, .answers = false, .prints = "QOSMaxSubmitJobPerUserLimit"}};
  testing::internal::CaptureStderr();
  const auto words = refusal();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(words, HasSubstr("(error 2066, QOSMaxSubmitJobPerUserLimit)"));
}

TEST_F(LibslurmClient, AsksWithoutASubmitAndIsRefusedAlike) {
  EXPECT_EQ(client->try_out(request), "");
  controller.next = {{.error = ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE}};
  EXPECT_EQ(client->try_out(request), "an error (error 2015)") << "taken, and waits";
  controller.next = {{.error = 2029}};
  try {
    client->try_out(request);
    FAIL() << "submit() would be refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), StartsWith("Slurm cannot submit job 'n': an error (error 2029); "));
  }
  EXPECT_EQ(controller.submits, 0);
}

TEST_F(LibslurmClient, AddsWhatSbatchAdds) {
  client->submit(request);
  EXPECT_THAT(controller.environment, Contains("SLURM_SUBMIT_DIR=/"));
  EXPECT_THAT(controller.environment, Contains("SLURM_JOB_NAME=n"));
  EXPECT_THAT(controller.environment, Contains(StartsWith("SLURM_UMASK=0")));
  EXPECT_THAT(controller.environment, Contains("PATH=/bin"));
}

TEST_F(LibslurmClient, AnUnknownJobIsNoErrorToCancel) { EXPECT_NO_THROW(client->cancel(7)); }

TEST_F(LibslurmClient, WhatWaitsOfAnArrayLeavesNodesOut) {
  client->leave_out(101, "trn2,trn7");
  EXPECT_NO_THROW(client->leave_out(7, "trn2")) << "all of it runs already";
  EXPECT_THROW(client->leave_out(8, "trn2"), Error);
  EXPECT_THAT(controller.changed, ElementsAre("101 without trn2,trn7", "7 without trn2", "8 without trn2"));
}

TEST_F(LibslurmClient, ListsTheJobsOfAComment) {
  controller.add("nkigrid feed elements 1.0 from 0");
  controller.add("somebody else's");
  auto& element = controller.jobs.emplace_back(controller.jobs[0]);
  controller.jobs[0].array_job_id = element.array_job_id = 101;
  controller.jobs[0].array_task_str = const_cast<char*>("1-3%2");
  element.array_task_id = 0;
  element.job_state = JOB_RUNNING | JOB_COMPLETING;
  const auto found = client->jobs("nkigrid feed ");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].pending_elements, "1-3%2");
  EXPECT_EQ(found[0].state, "PENDING");
  EXPECT_EQ(found[1].job, 101u);
  EXPECT_EQ(found[1].element, 0u);
  EXPECT_EQ(found[1].state, "COMPLETING");
  controller.jobs.back().job_state = JOB_PENDING | JOB_COMPLETING;
  EXPECT_EQ(client->jobs("nkigrid feed ")[1].state, "PENDING") << "requeued: it will run again";
  EXPECT_EQ(client->jobs_in_use(), 5u) << "three pending elements, one running, one of somebody else";
}

}  // namespace
}  // namespace nkigrid::slurm
