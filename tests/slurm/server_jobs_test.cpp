#include "slurm/server_jobs.hpp"

#include <gmock/gmock.h>

#include "runner/log/server_notes.hpp"
#include "slurm/elements.hpp"
#include "slurm/living.hpp"
#include "slurm/reasons.hpp"
#include "slurm/submissions.hpp"
#include "tests/slurm/submit_fixture.hpp"

namespace nkigrid::slurm {
namespace {

using jobs::SubmitReport;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A run whose models `qwen` and `other` ask the two replicas of one server.
struct ServedSubmit : Submit {
  ServedSubmit() {
    jobs::OpenAi api;
    api.server = jobs::ServerSpec{.command = {"vllm", "{port}"}, .environment = {}, .replicas = 2, .health = {}};
    api.server->cpus = 8;
    api.server->slurm.gres = "gpu:1";
    api.server_of = "qwen";
    run.grid.models = {{.name = "qwen", .api = api}};
    run.grid.cells = {{.id = "qwen.ss.p", .model = "qwen", .mode = "ss", .prompt = "p", .subset = {}, .tasks = {}}};
    run.grid.slurm.account = "lab";
  }
  SubmitReport submit_served(std::vector<std::uint32_t> shards) {
    return submit_shards(run, {.shards = std::move(shards), .program = "/bin/nkigrid", .servers = {"qwen"}}, client);
  }
  void note(std::uint32_t job, log::ServerNote::State state) const {
    log::note_server(run.log_folder(), {log::kJobsOwn, "qwen", 0},
                     {.state = state, .address = "", .job = std::to_string(job), .text = ""});
  }
};

TEST_F(ServedSubmit, ServersAreSentFirstAndElementsWaitForTheFirstReplicaToBegin) {
  note(7, log::ServerNote::State::ended);
  const auto report = submit_served({0, 1});
  ASSERT_EQ(client.requests.size(), 4u);
  EXPECT_THAT(client.requests[0].script, HasSubstr("tend '" + run.folder.native() + "' 'qwen' --replica 0 --job"));
  EXPECT_EQ(client.requests[0].cpus_per_task, 8u);
  EXPECT_EQ(client.requests[0].resources.gres, "gpu:1");
  EXPECT_EQ(client.requests[0].resources.account, "lab");
  EXPECT_THAT(client.requests[1].script, HasSubstr("--replica 1"));
  EXPECT_EQ(client.requests[2].dependency, "after:101") << "the second replica may come when it comes";
  EXPECT_THAT(client.requests[2].script, HasSubstr("--served"));
  EXPECT_EQ(client.requests[3].dependency, "afterany:103") << "the tables need no server";
  EXPECT_FALSE(log::read_server_note(run.log_folder(), {log::kJobsOwn, "qwen", 0})) << "an earlier keeper's word";
  const auto noted = read_submissions(run);
  ASSERT_EQ(noted.at(0).servers.size(), 2u);
  EXPECT_EQ(noted[0].servers[1].job, 102u);
  EXPECT_EQ(noted[0].servers[1].replica, 1u);
  const auto states = run_jobs(run, client);
  ASSERT_EQ(states.servers.size(), 2u);
  EXPECT_EQ(states.servers[1].job.job, 102u);
  EXPECT_EQ(states.elements.size(), 2u);
}

TEST_F(ServedSubmit, OneThatLivesIsUsedAndOneThatEndsIsNot) {
  submit_served({0});
  for (auto& record : client.records) record.state = "RUNNING";
  note(101, log::ServerNote::State::healthy);
  submit_served({1});
  ASSERT_EQ(client.requests.size(), 6u) << "two servers, then twice an array and its aggregation";
  EXPECT_EQ(client.requests[4].dependency, "after:101");
  note(101, log::ServerNote::State::ended);
  submit_served({2});
  ASSERT_EQ(client.requests.size(), 9u);
  EXPECT_THAT(client.requests[6].script, HasSubstr("--replica 0"));
  EXPECT_EQ(client.requests[6].dependency, "afterany:101") << "it may hold the port and the accelerator still";
  EXPECT_EQ(client.requests[7].dependency, "after:107");
}

TEST_F(ServedSubmit, AdviceNamesTheJob) {
  submit_served({0});
  client.records[0].advice = "scontrol release JOB lets it start";
  EXPECT_EQ(run_jobs(run, client).servers.at(0).job.advice, "scontrol release 101 lets it start");
}

TEST_F(ServedSubmit, AnElementThatWaitsSaysWhetherItIsForAServer) {
  submit_served({0});
  for (auto& record : client.records) record.reason = reason_of(2).words;  // WAIT_DEPENDENCY
  auto states = run_jobs(run, client);
  EXPECT_EQ(states.elements.at(0).reason, "waits for the models' servers to begin");
  EXPECT_EQ(states.servers.at(0).job.reason, "waits for an earlier job of its server to end");
  client.records[0].state = "RUNNING";
  client.records[0].reason = "";
  states = run_jobs(run, client);
  EXPECT_EQ(states.elements.at(0).reason, "waits for earlier elements of the run to end") << "a replica may come late";
}

TEST_F(ServedSubmit, ServersAreNoElementsAndEndWithACancel) {
  submit_served({0});
  EXPECT_EQ(living_of(run, client.jobs("")).arrays.size(), 1u);
  EXPECT_THAT(cancel_run(run, client), ElementsAre(101, 102, 103, 104));
  for (auto& record : client.records)
    if (record.job > 102) record.state = "COMPLETED";
  EXPECT_THAT(living_of(run, client.jobs("")).arrays, IsEmpty()) << "by which a keeper knows that it may end";
}

}  // namespace
}  // namespace nkigrid::slurm
