#include "slurm/submit.hpp"

#include <gmock/gmock.h>

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/server_notes.hpp"
#include "slurm/elements.hpp"
#include "slurm/living.hpp"
#include "slurm/scripts.hpp"
#include "slurm/submissions.hpp"

namespace nkigrid::slurm {
namespace {

using jobs::SubmitReport;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A controller that remembers; every array stays pending until told otherwise.
class FakeClient final : public Client {
 public:
  std::uint32_t submit(const JobRequest& request) override {
    if (submits_before_failure-- == 0) throw Error(ErrorCode::external, "the controller is gone");
    requests.push_back(request);
    const auto id = static_cast<std::uint32_t>(100 + requests.size());
    if (rival)
      records.push_back({.job = 50,
                         .element = std::nullopt,
                         .pending_elements = request.array,
                         .state = "PENDING",
                         .comment = request.comment});
    records.push_back({.job = id,
                       .element = std::nullopt,
                       .pending_elements = request.array,
                       .state = "PENDING",
                       .reason = "waits for free nodes",
                       .nodes = {},
                       .name = request.name,
                       .comment = request.comment,
                       .work_folder = request.work_folder});
    return id;
  }
  std::vector<JobState> jobs(const std::string& prefix) override {
    std::vector<JobState> found;
    std::copy_if(records.begin(), records.end(), std::back_inserter(found),
                 [&](const auto& job) { return job.comment.rfind(prefix, 0) == 0; });
    return found;
  }
  std::string try_out(const JobRequest&) override { return {}; }
  void cancel(std::uint32_t job) override { cancelled.push_back(job); }
  Limits limits() override { return site; }
  long seconds_left(std::uint32_t) override { return -1; }
  std::uint32_t jobs_in_use() override { return in_use; }
  std::vector<Partition> partitions() override { return {{.name = "trn1", .nodes = 4, .is_default = true}}; }
  std::string version() override { return "0"; }

  std::vector<JobRequest> requests;
  std::vector<JobState> records;
  std::vector<std::uint32_t> cancelled;
  int submits_before_failure = -1;  ///< this many succeed, then the controller is gone; -1: never
  bool rival = false;               ///< another submit sent the same job a moment earlier
  std::uint32_t in_use = 0;
  Limits site{.max_array_size = 4, .max_job_count = 100};
};

struct Submit : testing::Test {
  TemporaryDirectory folder;
  jobs::Run run;
  FakeClient client;
  Submit() {
    run.folder = folder.path();
    run.run_id = "feed";
    run.grid.name = "g";
    make_directories(run.log_folder());
  }
  SubmitReport submit(std::vector<std::uint32_t> shards) {
    return submit_shards(run, {std::move(shards), "/bin/nkigrid", {}}, client);
  }
};

TEST_F(Submit, OneArrayAChunkAndOneAggregationBehindThemAll) {
  const auto report = submit({0, 1, 2, 3, 4, 5});
  ASSERT_EQ(client.requests.size(), 3u);
  EXPECT_EQ(client.requests[0].array, "0-3");
  EXPECT_EQ(client.requests[1].array, "0-1");
  EXPECT_EQ(client.requests[2].dependency, "afterany:101:102");
  EXPECT_EQ(report.submission.aggregation, 103u);
  const auto noted = read_submissions(run);
  ASSERT_EQ(noted.size(), 1u);
  EXPECT_EQ(noted[0].arrays[1].job, 102u);
  EXPECT_EQ(noted[0].arrays[1].offset, 4u);
  EXPECT_EQ(noted[0].aggregation, 103u);
}

TEST_F(Submit, ASecondSubmitLeavesLivingShardsAlone) {
  submit({0, 1, 5});
  const auto second = submit({0, 1, 5});
  EXPECT_TRUE(second.already);
  EXPECT_FALSE(second.arrays_added) << "those of its submission are the first one's";
  EXPECT_THAT(second.busy_shards, ElementsAre(0, 1, 5));
  EXPECT_THAT(second.begun_shards, IsEmpty()) << "pending ones read the run when they begin";
  EXPECT_EQ(client.requests.size(), 3u);
}

TEST_F(Submit, AJobWhoseNoteWasLostIsFoundByItsComment) {
  submit({4, 5});
  std::filesystem::remove(run.folder / "jobs.json");
  EXPECT_TRUE(submit({4, 5}).already);
}

TEST_F(Submit, EndedShardsAreSubmittedAgainAsANewGeneration) {
  submit({0, 1});
  for (auto& record : client.records) record.state = "FAILED";
  const auto again = submit({1});
  EXPECT_FALSE(again.already);
  EXPECT_TRUE(again.arrays_added);
  EXPECT_EQ(again.submission.generation, 2u);
  EXPECT_EQ(client.requests[2].array, "1");
  EXPECT_EQ(client.requests[3].dependency, "afterany:103") << "ended arrays are not waited for";
}

TEST_F(Submit, AShardWhoseElementOnlyCompletesIsSubmittedAgainBehindIt) {
  submit({0, 1});
  const auto comment = client.records[0].comment;
  client.records = {{.job = 101, .element = 0, .pending_elements = {}, .state = "COMPLETING", .comment = comment},
                    {.job = 101, .element = 1, .pending_elements = {}, .state = "RUNNING", .comment = comment}};
  const auto again = submit({0, 1});
  EXPECT_THAT(again.busy_shards, ElementsAre(1));
  EXPECT_THAT(again.begun_shards, ElementsAre(1)) << "it does not know what the run gained since";
  EXPECT_EQ(client.requests[2].array, "0");
  EXPECT_EQ(client.requests[2].dependency, "afterany:101_0");
  EXPECT_EQ(client.requests[3].dependency, "afterany:101:103");
}

TEST_F(Submit, AnIdIsNotedBeforeTheNextCallCanFail) {
  client.submits_before_failure = 1;
  EXPECT_THROW(submit({0, 4}), Error);
  const auto noted = read_submissions(run);
  ASSERT_EQ(noted.size(), 1u);
  EXPECT_EQ(noted[0].arrays.size(), 1u);
  EXPECT_EQ(noted[0].arrays[0].job, 101u);
}

TEST_F(Submit, AFullSizeArrayIsOneCall) {
  client.site = {.max_array_size = 1001, .max_job_count = 10000};
  std::vector<std::uint32_t> shards(1000);
  std::iota(shards.begin(), shards.end(), 0);
  submit(shards);
  ASSERT_EQ(client.requests.size(), 2u) << "the array and the aggregation";
  EXPECT_EQ(client.requests[0].array, "0-999");
}

TEST_F(Submit, IsRefusedBeforeTheFirstCallWhenTheControllerHasNoRoom) {
  client.in_use = 95;
  try {
    submit({0, 1, 2, 3, 4});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::config);
    EXPECT_THAT(error.what(), HasSubstr("MaxJobCount 100, 95 in use, 4 free"));
  }
  EXPECT_THAT(client.requests, IsEmpty());
  EXPECT_THAT(read_submissions(run), IsEmpty());
}

TEST_F(Submit, MoreNodesThanThePartitionHasAreRefusedBeforeTheFirstCall) {
  for (const char* partition : {"", "trn1"}) {
    run.grid.slurm.partition = partition;
    run.grid.slurm.nodes = 5;
    try {
      submit({0});
      FAIL() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::config);
      EXPECT_THAT(error.what(), HasSubstr("slurm.nodes is 5, partition 'trn1' has 4 nodes"));
    }
    EXPECT_THAT(client.requests, IsEmpty());
  }
}

TEST_F(Submit, NodesThatEatEpisodesAreLeftOut) {
  run.grid.slurm.exclude = "trn9";
  submit_shards(run, {{0}, "/bin/nkigrid", {"trn2", "trn3"}}, client);
  EXPECT_EQ(client.requests[0].resources.exclude, "trn9,trn2,trn3");
  EXPECT_EQ(client.requests[1].resources.exclude, "trn9") << "the aggregation runs anywhere";
}

TEST_F(Submit, ASmallThrottleIsKeptOverManyArrays) {
  run.grid.slurm.throttle = 2;
  submit({0, 4, 8, 12});  // four arrays of one element each
  EXPECT_EQ(client.requests[0].array, "0%1");
  EXPECT_EQ(client.requests[1].dependency, "");
  EXPECT_EQ(client.requests[2].dependency, "afterany:101");
  EXPECT_EQ(client.requests[3].dependency, "afterany:102");
}

TEST_F(Submit, AResumeBesideLivingElementsKeepsTheThrottle) {
  run.grid.slurm.throttle = 2;
  submit({0});
  client.records[0] = {
      .job = 101, .element = 0, .pending_elements = {}, .state = "RUNNING", .comment = client.records[0].comment};
  EXPECT_EQ(submit({1, 2}).pace.throttle, 1u);
  EXPECT_EQ(client.requests[2].array, "1-2%1");
  EXPECT_EQ(submit({3}).pace.after_living, true);
  EXPECT_EQ(client.requests[4].dependency, "afterany:101:103");
}

TEST_F(Submit, AnAggregationThatASubmitDidNotComeToIsMadeUpFor) {
  client.submits_before_failure = 1;
  const auto first = submit({0, 1});
  EXPECT_EQ(first.submission.arrays.size(), 1u) << "the array stands: its last element to end makes the tables";
  EXPECT_EQ(first.aggregation_refused, "the controller is gone");
  client.submits_before_failure = 0;
  EXPECT_EQ(submit({0, 1}).aggregation_refused, "the controller is gone") << "again, and no error";
  const auto again = submit({0, 1});
  EXPECT_TRUE(again.already);
  EXPECT_TRUE(again.aggregation_added);
  EXPECT_EQ(client.requests.back().dependency, "afterany:101");
  EXPECT_EQ(read_submissions(run).back().aggregation, again.submission.aggregation);
  EXPECT_FALSE(submit({0, 1}).aggregation_added);
}

TEST_F(Submit, AnArrayThatASubmitDidNotComeToIsTold) {
  client.submits_before_failure = 1;
  try {
    submit({0, 4});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::external);
    EXPECT_THAT(error.what(), HasSubstr("array 101 is submitted"));
    EXPECT_THAT(error.what(), HasSubstr("the controller is gone"));
  }
}

TEST_F(Submit, AnAggregationThatEndedWithoutItsTablesIsMadeAnew) {
  submit({0, 1});
  for (auto& record : client.records) record.state = "FAILED";
  EXPECT_FALSE(submit({}).aggregation_added) << "nobody asked for tables";
  const auto again = submit_shards(run, {.shards = {}, .program = "/bin/nkigrid", .tables = true}, client);
  EXPECT_TRUE(again.aggregation_added);
  EXPECT_FALSE(again.already);
  EXPECT_EQ(client.requests.back().dependency, "");
  EXPECT_THAT(client.requests.back().comment, HasSubstr("nkigrid feed aggregation 2, folder "));
  EXPECT_EQ(read_submissions(run).back().aggregation, again.submission.aggregation);
  const auto third = submit_shards(run, {.shards = {}, .program = "/bin/nkigrid", .tables = true}, client);
  EXPECT_FALSE(third.aggregation_added) << "it waits";
  EXPECT_FALSE(again.arrays_added || third.arrays_added);
  EXPECT_EQ(third.submission.aggregation, again.submission.aggregation) << "which one";
}

TEST_F(Submit, AnElementThatOnlyDrainsIsFollowedByANewOne) {
  submit({0, 1});
  client.records = {{.job = 101,
                     .element = 0,
                     .pending_elements = {},
                     .state = "RUNNING",
                     .started = 1000,
                     .comment = client.records[0].comment},
                    {.job = 101,
                     .element = 1,
                     .pending_elements = {},
                     .state = "RUNNING",
                     .started = 1000,
                     .comment = client.records[0].comment}};
  const auto again =
      submit_shards(run, {.shards = {0, 1}, .program = "/bin/nkigrid", .stopped = {{0, 1500.0}, {1, 900.0}}}, client);
  EXPECT_THAT(again.busy_shards, ElementsAre(1)) << "its note is an earlier session's";
  EXPECT_EQ(client.requests[2].array, "0");
  EXPECT_EQ(client.requests[2].dependency, "afterany:101_0");
}

/// A copy of a run that `client` knows jobs of.
struct CopiedRun : Submit {
  TemporaryDirectory other;
  jobs::Run copy;
  CopiedRun() {
    copy = run;
    copy.folder = other.path();
    make_directories(copy.log_folder());
    write_file_atomic(run.folder / "grid.yaml", "name: g\nresolved:\n");
    write_file_atomic(copy.folder / "grid.yaml", "name: g\nresolved:\n");
    submit({0, 1});
    std::filesystem::copy(run.folder / "jobs.json", copy.folder / "jobs.json");
  }
};

TEST_F(CopiedRun, OwnsNoJobOfTheOriginal) {
  EXPECT_THAT(cancel_run(copy, client), IsEmpty());
  EXPECT_THAT(client.cancelled, IsEmpty());
  EXPECT_THAT(run_jobs(copy, client).elements, IsEmpty());
  EXPECT_EQ(run_jobs(copy, client).aggregation, std::nullopt);
  const auto own = submit_shards(copy, {.shards = {0, 1}, .program = "/bin/nkigrid"}, client);
  EXPECT_FALSE(own.already);
  EXPECT_EQ(run_jobs(run, client).elements.size(), 2u);
  EXPECT_THAT(cancel_run(run, client), ElementsAre(101, 102));
}

TEST_F(CopiedRun, OwnsNoneWhereverTheOriginalWasMoved) {
  auto moved = run;
  moved.folder = other.path() / "moved";
  std::filesystem::rename(run.folder, moved.folder);
  EXPECT_THAT(cancel_run(copy, client), IsEmpty()) << "no run stands where the jobs work";
  EXPECT_EQ(run_jobs(moved, client).elements.size(), 2u);
  std::filesystem::copy(moved.folder, run.folder, std::filesystem::copy_options::recursive);
  EXPECT_THAT(cancel_run(run, client), IsEmpty()) << "a copy took the original's place";
  EXPECT_EQ(run_jobs(moved, client).elements.size(), 2u);
  EXPECT_THAT(cancel_run(moved, client), ElementsAre(101, 102));
}

TEST_F(CopiedRun, IsToldApartByThePlaceWhereItsJobsSayNoFolder) {
  for (auto& job : client.records) job.comment = job.comment.substr(0, job.comment.find(", folder"));
  EXPECT_THAT(cancel_run(copy, client), IsEmpty());
  EXPECT_THAT(cancel_run(run, client), ElementsAre(101, 102));
}

TEST_F(CopiedRun, AnotherHostsDeviceNumberIsNoOtherFolder) {
  for (auto& job : client.records) {
    const auto at = job.comment.find(", folder ") + std::string_view(", folder ").size();
    job.comment.replace(at, job.comment.find(':', at) - at, "0");
  }
  EXPECT_EQ(run_jobs(run, client).elements.size(), 2u);
  EXPECT_THAT(cancel_run(copy, client), IsEmpty());
}

TEST_F(CopiedRun, ALinkToARunIsTheRun) {
  auto linked = run;
  linked.folder = other.path() / "link";
  std::filesystem::create_directory_symlink(run.folder, linked.folder);
  EXPECT_THAT(cancel_run(linked, client), ElementsAre(101, 102));
}

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

TEST_F(Submit, OfTwoArraysOfOneChunkTheOlderStays) {
  client.rival = true;  // no locks: both submits saw an empty queue
  const auto report = submit({0, 1});
  EXPECT_EQ(report.submission.arrays[0].job, 50u);
  EXPECT_THAT(client.cancelled, ElementsAre(101, 102));
}

TEST_F(Submit, AJobOfThisRunWithAnotherCommentIsPassedBy) {
  client.records.push_back({.job = 7,
                            .element = 0,
                            .pending_elements = {},
                            .state = "RUNNING",
                            .comment = "nkigrid feed elements of another kind"});
  EXPECT_EQ(submit({0}).submission.arrays.size(), 1u);
}

TEST_F(Submit, CancelEndsLivingJobsOfThisRunOnly) {
  submit({0});
  client.records.push_back({.job = 7, .state = "RUNNING", .comment = "nkigrid other elements 1.0 from 0"});
  client.records[0].state = "COMPLETED";
  EXPECT_THAT(cancel_run(run, client), ElementsAre(102));
  EXPECT_THAT(client.cancelled, ElementsAre(102));
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

TEST_F(Submit, ADamagedJobsFileIsNamed) {
  const auto refusal = [&](std::string_view text) {
    write_file_atomic(run.folder / "jobs.json", text);
    try {
      read_submissions(run);
      return ErrorCode::internal;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("jobs.json"));
      return error.code();
    }
  };
  EXPECT_EQ(refusal(R"({"submissions": [{}]})"), ErrorCode::corrupt);
  EXPECT_EQ(refusal(R"({"version": 2, "submissions": []})"), ErrorCode::config);
  for (const char* elements : {"0-4000000000", "", "0-", "3-1", "0,x", "0-3%2"}) {
    EXPECT_EQ(refusal(fmt::format(R"({{"version": 1, "submissions": [{{"generation": 1, "aggregation": 0, "arrays": )"
                                  R"([{{"job": 1, "offset": 0, "elements": "{}"}}]}}]}})",
                                  elements)),
              ErrorCode::corrupt)
        << elements;
  }
}

TEST(Submittable, AFolderThatSlurmWouldReadAsAPatternIsRefused) {
  for (const char* folder : {"/shared/50% done/run", "/shared/a\\b"})
    EXPECT_THROW(check_submittable({}, folder), Error) << folder;
  EXPECT_NO_THROW(check_submittable({}, "/shared/it's \"here\", $5"));
}

TEST(Submittable, ASecretFromTheEnvironmentIsRefusedByModel) {
  const jobs::KeySource secret = {.kind = jobs::KeySource::Kind::env, .value = "KEY"};
  for (const bool in_header : {false, true}) {
    jobs::Grid grid;
    jobs::OpenAi api;
    if (in_header)
      api.remote.headers.push_back({.name = "x-api-key", .text = "", .secret = secret});
    else
      api.remote.key = secret;
    grid.models.push_back({.name = "opus", .api = api});
    try {
      check_submittable(grid, "/run");
      FAIL() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::config);
      EXPECT_THAT(error.what(), HasSubstr("models.opus: {env: KEY} cannot be submitted"));
    }
  }
}

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
