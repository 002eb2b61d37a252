#include "slurm/scripts.hpp"

#include <gmock/gmock.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"

namespace nkigrid::slurm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

jobs::Run some_run() {
  jobs::Run run;
  run.folder = "/shared/it's here/run";
  run.run_id = "00112233445566aa";
  run.grid.name = "demo";
  run.grid.slurm = {.partition = "trn1", .gres = "neuroncore:2", .shards = 4, .nodes = 2, .ranks_per_node = 3, .cpus_per_rank = 4,
                    .throttle = 4, .time = Seconds(3601), .warn = Seconds(90)};
  return run;
}

TEST(Split, KeepsEveryIndexBelowTheControllersLimit) {
  // Slurm caps the index, not the count: shard 1000 with MaxArraySize 1000 must be index 0 of a second array.
  const auto chunks = split({0, 998, 999, 1000, 1001, 2500}, {.max_array_size = 1000, .max_job_count = 10000});
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_THAT(chunks[0].elements, ElementsAre(0, 998, 999));
  EXPECT_EQ(chunks[1].offset, 1000u);
  EXPECT_THAT(chunks[1].elements, ElementsAre(0, 1));
  EXPECT_EQ(chunks[2].offset, 2000u);
  EXPECT_THAT(chunks[2].elements, ElementsAre(500));
}

TEST(Split, RefusesMoreElementsThanJobsWithTheNumbers) {
  try {
    split({0, 1, 2, 3}, {.max_array_size = 1001, .max_job_count = 4});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::config);
    EXPECT_THAT(error.what(), HasSubstr("MaxJobCount 4"));
  }
}

TEST(Split, KeepsToTheSitesLimitOnTasksOfAnArray) {
  const auto chunks = split({0, 1, 2, 3, 4}, {.max_array_size = 1001, .max_job_count = 100, .max_array_tasks = 2});
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_EQ(chunks[1].offset, 0u);
  EXPECT_THAT(chunks[1].elements, ElementsAre(2, 3));
}

TEST(ThrottleShare, AddsUpToTheThrottle) {
  for (std::uint32_t throttle = 3; throttle < 20; ++throttle) {
    EXPECT_EQ(throttle_share(throttle, 0, 3) + throttle_share(throttle, 1, 3) + throttle_share(throttle, 2, 3), throttle);
  }
  EXPECT_EQ(throttle_share(0, 1, 3), 0u) << "no limit";
}

struct Request : testing::Test {
  TemporaryDirectory folder;
  JobRequest whole{.name = "nkigrid-demo", .comment = {}, .script = "#!/bin/sh\n", .work_folder = folder.path().native(),
                   .output = (folder.path() / "element-%A_%a.out").native(), .environment = {"PATH=/bin"}, .array = {}, .dependency = {}, .resources = {}};
  JobRequest request = whole;
  std::string refusal() {
    try {
      check_request(std::exchange(request, whole));
      return "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::config);
      return error.what();
    }
  }
};

TEST_F(Request, WhatSlurmWouldAcceptAndFailWithoutAWordIsRefused) {
  EXPECT_EQ(refusal(), "accepted");
  request.script = "echo no shebang\n";
  EXPECT_THAT(refusal(), HasSubstr("#!"));
  request.environment.clear();
  EXPECT_THAT(refusal(), HasSubstr("environment"));
  request.output = "/no/such/folder/out";
  EXPECT_THAT(refusal(), HasSubstr("/no/such/folder"));
  request.work_folder = "/no/such/folder";
  EXPECT_THAT(refusal(), HasSubstr("does not exist"));
  request.name.clear();
  EXPECT_THAT(refusal(), HasSubstr("name"));
  request.time_minutes = 0;
  EXPECT_THAT(refusal(), HasSubstr("time"));
}

TEST(ArrayText, WritesRangesAndTheThrottle) {
  EXPECT_EQ(array_text({0, 1, 2, 5, 7, 8}, 0), "0-2,5,7-8");
  EXPECT_EQ(array_text({3}, 2), "3%2");
}

TEST(Scripts, ElementsRunOneMpirunOverTheirNodes) {
  const auto run = some_run();
  const auto request = element_request(run, {.offset = 1000, .elements = {0, 1, 2, 3}}, 1, 2, 3, "/opt/nki grid/nkigrid");
  EXPECT_EQ(request.tasks, 6u);
  EXPECT_EQ(request.time_minutes, 61u);
  EXPECT_EQ(request.array, "0-3%2") << "two chunks share a throttle of four";
  EXPECT_EQ(request.comment, "nkigrid 00112233445566aa elements 3.1 from 1000");
  EXPECT_THAT(request.script, HasSubstr("exec mpirun -n 6 --bind-to none '/opt/nki grid/nkigrid' run '/shared/it'\\''s here/run' "
                                        "--shard $((SLURM_ARRAY_TASK_ID + 1000))"));
}

TEST(Scripts, AggregationWaitsForEveryArrayHoweverItEnds) {
  const auto request = aggregation_request(some_run(), {12, 15}, 1, "/usr/bin/nkigrid");
  EXPECT_EQ(request.dependency, "afterany:12:15");
  EXPECT_TRUE(request.array.empty());
  EXPECT_TRUE(request.resources.gres.empty());
  EXPECT_THAT(request.script, HasSubstr("tables '/shared/it'\\''s here/run' --write"));
}

TEST(Scripts, SbatchFormSaysTheSameAsTheRequest) {
  const auto run = some_run();
  const auto text = sbatch_script(element_request(run, {.offset = 0, .elements = {0, 1, 2, 3}}, 0, 1, 1, "/usr/bin/nkigrid"));
  EXPECT_EQ(text.rfind("#!/bin/sh\n#SBATCH ", 0), 0u);
  for (const char* line : {"#SBATCH --array=0-3%4\n", "#SBATCH --nodes=2\n", "#SBATCH --ntasks=6\n", "#SBATCH --ntasks-per-node=3\n",
                           "#SBATCH --cpus-per-task=4\n", "#SBATCH --time=61\n", "#SBATCH --signal=B:USR1@90\n", "#SBATCH --open-mode=append\n",
                           "#SBATCH --partition=trn1\n", "#SBATCH --gres=neuroncore:2\n", "exec mpirun"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("--account")));
}

TEST(Environment, KeepsTheAllowListOnly) {
  std::vector<std::string> given = {"PATH=/bin", "SLURM_CONF=/etc/slurm.conf", "SLURM_JOB_ID=7", "SLURM_CPU_BIND=quiet", "SBATCH_ACCOUNT=x",
                                    "PMIX_RANK=0", "OMPI_COMM_WORLD_SIZE=4", "OMPI_MCA_btl=tcp,self", "OPENBLAS_CORETYPE=Haswell",
                                    "ANTHROPIC_API_KEY=secret", "AWS_BEARER_TOKEN_BEDROCK=secret"};
  std::vector<char*> pointers;
  for (auto& entry : given) pointers.push_back(entry.data());
  pointers.push_back(nullptr);
  EXPECT_THAT(allowed_environment(pointers.data()),
              ElementsAre("PATH=/bin", "SLURM_CONF=/etc/slurm.conf", "OMPI_MCA_btl=tcp,self", "OPENBLAS_CORETYPE=Haswell"));
}

}  // namespace
}  // namespace nkigrid::slurm
