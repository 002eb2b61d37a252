#include "slurm/submit.hpp"

#include <gmock/gmock.h>

#include <fmt/core.h>
#include <numeric>

#include "slurm/submissions.hpp"
#include "tests/slurm/submit_fixture.hpp"

namespace nkigrid::slurm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

}  // namespace
}  // namespace nkigrid::slurm
