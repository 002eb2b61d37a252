#include "slurm/scripts.hpp"

#include <gmock/gmock.h>

#include <fmt/core.h>

#include <functional>
#include <sstream>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "slurm/dry_run.hpp"
#include "slurm/request_parts.hpp"

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
  run.grid.slurm = {.partition = "trn1",
                    .gres = "neuroncore:2",
                    .shards = 4,
                    .nodes = 2,
                    .ranks_per_node = 3,
                    .cpus_per_rank = 4,
                    .throttle = 4,
                    .time = Seconds(3601),
                    .warn = Seconds(90)};
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
    EXPECT_EQ(throttle_share(throttle, 0, 3) + throttle_share(throttle, 1, 3) + throttle_share(throttle, 2, 3),
              throttle);
  }
  EXPECT_EQ(throttle_share(0, 1, 3), 0u) << "no limit";
}

struct Request : testing::Test {
  TemporaryDirectory folder;
  JobRequest whole{.name = "nkigrid-demo",
                   .comment = {},
                   .script = "#!/bin/sh\n",
                   .work_folder = folder.path().native(),
                   .output = (folder.path() / "element-%A_%a.out").native(),
                   .environment = {"PATH=/bin"},
                   .array = {},
                   .dependency = {},
                   .resources = {}};
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

TEST_F(Request, WhatNoNodeHasForAServerIsRefusedWithTheServersKeys) {
  const std::vector<Partition> partitions = {
      {.name = "p", .nodes = 1, .is_default = true, .sizes = {{"n1", 8, 32000}}}};
  const auto refusal = [&](std::uint32_t cpus, const std::string& mem, const std::string& exclude) -> std::string {
    request.nodes = request.tasks_per_node = 1;
    request.cpus_per_task = cpus;
    request.resources = {};
    request.resources.mem = mem;
    request.resources.exclude = exclude;
    try {
      check_fits(request, partitions, "qwen");
      return "accepted";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal(8, "32000M", ""), "accepted");
  EXPECT_EQ(refusal(9, "", ""),
            "the server of model 'qwen' asks for 1 node, and 0 of partition 'p' have the 9 CPUs that "
            "models.qwen.server.slurm.cpus asks for; lower it, or name another models.qwen.server.slurm.partition");
  EXPECT_THAT(refusal(8, "32001M", ""), HasSubstr("lower models.qwen.server.slurm.mem"));
  EXPECT_THAT(refusal(8, "", "n1"), HasSubstr("look at models.qwen.server.slurm.exclude"));
}

TEST_F(Request, WhatNoNodeOfThePartitionHasIsRefusedWithItsKey) {
  const std::vector<Partition> partitions = {
      {.name = "p", .nodes = 3, .is_default = true, .sizes = {{"n1", 8, 32000}, {"n2", 8, 64000}, {"n3", 2, 64000}}}};
  const auto refusal = [&](std::uint32_t nodes, std::uint32_t cpus, const std::string& mem,
                           const std::string& exclude = {}) -> std::string {
    request.nodes = nodes;
    request.tasks_per_node = 2;
    request.cpus_per_task = cpus;
    request.resources = {};
    request.resources.mem = mem;
    request.resources.exclude = exclude;
    try {
      check_fits(request, partitions);
      return "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::config);
      return error.what();
    }
  };
  EXPECT_EQ(refusal(2, 4, "32000M"), "accepted");
  EXPECT_EQ(refusal(3, 1, "0"), "accepted");
  EXPECT_THAT(refusal(1, 5, ""), HasSubstr("cpus_per_rank 5"));
  EXPECT_THAT(refusal(3, 4, ""), HasSubstr("2 of partition 'p' have the 8 CPUs"));
  EXPECT_THAT(refusal(2, 4, "60000M"), HasSubstr("lower slurm.mem"));
  EXPECT_THAT(refusal(1, 1, "1T"), HasSubstr("0 of partition 'p' have slurm.mem 1T"));
  EXPECT_THAT(refusal(1, 1, "", "n1,n2,n3"), HasSubstr("slurm.exclude"));
  EXPECT_THAT(refusal(1, 1, "", "n[1-3]"), HasSubstr("slurm.exclude"));
}

TEST(NodeNames, ReadsSlurmsLists) {
  EXPECT_THAT(node_names("head,trn[08-10,2],gpu[1]x,,trn3"),
              testing::UnorderedElementsAre("head", "trn08", "trn09", "trn10", "trn2", "gpu1x", "trn3"));
  EXPECT_TRUE(node_names("").empty());
  EXPECT_TRUE(node_names("trn[1-").empty());
  EXPECT_TRUE(node_names("n[0-4000000000]").empty());
  EXPECT_TRUE(node_names("n[0-4294967295]").empty()) << "2^32 of them are not none";
  std::string list = "n[0-99998";
  for (int n = 0; n < 100'000; ++n) list += ",0-99998";
  EXPECT_EQ(node_names(list + "]").size(), 99'999U);
}

JobRequest elements_of_chunk(const jobs::Run& run, const Chunk& chunk, const jobs::Pace& pace,
                             const std::string& program = "/usr/bin/nkigrid") {
  return element_requests(run, {chunk}, pace, 3, {program}).front();
}

TEST(Scripts, ElementsRunOneMpirunOverTheirNodes) {
  const auto run = some_run();
  const std::vector<Chunk> chunks = {{.offset = 0, .elements = {0}}, {.offset = 1000, .elements = {0, 1, 2, 3}}};
  const auto request = element_requests(run, chunks, {.throttle = 4, .at_once = 4}, 3, {"/opt/nki grid/nkigrid"})[1];
  EXPECT_EQ(request.tasks, 6u);
  EXPECT_EQ(request.time_minutes, 61u);
  EXPECT_EQ(request.array, "0-3%2") << "two chunks share a throttle of four";
  EXPECT_EQ(request.comment, "nkigrid 00112233445566aa elements 3.1 from 1000, 4 at once");
  EXPECT_THAT(request.script,
              HasSubstr("exec mpirun -n 6 --bind-to none '/opt/nki grid/nkigrid' run '/shared/it'\\''s here/run' "
                        "--shard $((SLURM_ARRAY_TASK_ID + 1000)) --quiet"));
}

TEST(Scripts, ElementsThatShareAnEndpointAreToldHowManyTheyAre) {
  auto run = some_run();
  run.grid.models.push_back({.name = "m", .api = jobs::OpenAi{}, .concurrency = 9});
  run.grid.cells.push_back({.id = "m.s.p", .model = "m"});
  EXPECT_THAT(elements_of_chunk(run, {.offset = 0, .elements = {0, 1}}, {.throttle = 0, .at_once = 2}).script,
              HasSubstr(" --elements-at-once 2 --quiet"));
}

TEST(Scripts, AggregationRunsAnywhereAndChecksCompletenessItself) {
  auto run = some_run();
  run.grid.slurm.extra = {"--nodelist=trn[1-2]"};
  run.grid.slurm.constraint = "big";
  run.grid.slurm.mem = "64G";
  const auto request = aggregation_request(run, 1, "/usr/bin/nkigrid");
  EXPECT_TRUE(request.array.empty());
  EXPECT_TRUE(request.resources.extra.empty() && request.resources.constraint.empty() && request.resources.mem.empty());
  EXPECT_EQ(request.resources.partition, run.grid.slurm.partition);
  EXPECT_TRUE(request.resources.gres.empty());
  EXPECT_EQ(request.comment, "nkigrid 00112233445566aa aggregation 1");
  EXPECT_THAT(request.script, HasSubstr("tables '/shared/it'\\''s here/run' --write"));
}

TEST(Scripts, SbatchFormSaysTheSameAsTheRequest) {
  const auto text = sbatch_script(
      elements_of_chunk(some_run(), {.offset = 0, .elements = {0, 1, 2, 3}}, {.throttle = 4, .at_once = 4}));
  EXPECT_EQ(text.rfind("#!/bin/sh\n#SBATCH ", 0), 0u);
  for (const char* line :
       {"#SBATCH --array=0-3%4\n", "#SBATCH --nodes=2\n", "#SBATCH --ntasks=6\n", "#SBATCH --ntasks-per-node=3\n",
        "#SBATCH --cpus-per-task=4\n", "#SBATCH --time=61\n", "#SBATCH --signal=B:USR1@90\n",
        "#SBATCH --open-mode=append\n", "#SBATCH --partition=trn1\n", "#SBATCH --gres=neuroncore:2\n",
        "#SBATCH --chdir=\"/shared/it's here/run\"\n",
        "#SBATCH --comment=\"nkigrid 00112233445566aa elements 3.0 from 0, 4 at once\"\n", "exec mpirun"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("--account")));
}

std::vector<std::string> lines_with(const std::string& text, std::string_view word) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.find(word) != std::string::npos) lines.push_back(line);
  }
  return lines;
}

TEST(DryRun, SubmitsByHandInTheOrderAndWithTheDependenciesOfASubmit) {
  auto run = some_run();
  run.grid.slurm.throttle = 2;
  const auto scripts = dry_run(run, {0, 4, 8, 12}, {.max_array_size = 4, .max_job_count = 100}, "/usr/bin/nkigrid");
  ASSERT_EQ(scripts.size(), 6u);
  EXPECT_EQ(scripts[3].name, "elements-3.sh");
  EXPECT_THAT(scripts[3].text, HasSubstr("--array=0%1\n"));
  EXPECT_EQ(scripts[4].name, "aggregation.sh");
  EXPECT_EQ(scripts[5].name, "submit.sh");
  EXPECT_THAT(scripts[5].text, HasSubstr("cd '/shared/it'\\''s here/run/scripts'\n"));
  EXPECT_THAT(
      lines_with(scripts[5].text, "--parsable"),
      ElementsAre("array_0=$(sbatch --parsable elements-0.sh)", "array_1=$(sbatch --parsable elements-1.sh)",
                  "array_2=$(sbatch --parsable --dependency=\"afterany:$array_0\" elements-2.sh)",
                  "array_3=$(sbatch --parsable --dependency=\"afterany:$array_1\" elements-3.sh)",
                  "sbatch --parsable --dependency=\"afterany:$array_0:$array_1:$array_2:$array_3\" aggregation.sh"));
}

TEST(Megabytes, ReadsWhatTheGridWrites) {
  EXPECT_EQ(megabytes("65536M"), 65536u);
  EXPECT_EQ(megabytes("64G"), 65536u);
  EXPECT_EQ(megabytes("2T"), 2u << 20);
  EXPECT_EQ(megabytes("0"), 0u);
}

TEST(Environment, KeepsTheAllowListOnly) {
  std::vector<std::string> given = {"PATH=/bin",
                                    "SLURM_CONF=/etc/slurm.conf",
                                    "SLURM_JOB_ID=7",
                                    "SLURM_CPU_BIND=quiet",
                                    "SBATCH_ACCOUNT=x",
                                    "PMIX_RANK=0",
                                    "OMPI_COMM_WORLD_SIZE=4",
                                    "OMPI_MCA_btl=tcp,self",
                                    "OPENBLAS_CORETYPE=Haswell",
                                    "ANTHROPIC_API_KEY=secret",
                                    "NEURON_CC_FLAGS=-O2",
                                    "NEURON_API_TOKEN=secret",
                                    "NKIGRID_DEVICE_DIR=/d",
                                    "AWS_BEARER_TOKEN_BEDROCK=secret"};
  std::vector<char*> pointers;
  for (auto& entry : given) pointers.push_back(entry.data());
  pointers.push_back(nullptr);
  EXPECT_THAT(allowed_environment(pointers.data()),
              ElementsAre("PATH=/bin", "SLURM_CONF=/etc/slurm.conf", "OMPI_MCA_btl=tcp,self",
                          "OPENBLAS_CORETYPE=Haswell", "NEURON_CC_FLAGS=-O2", "NKIGRID_DEVICE_DIR=/d"));
}

TEST(Environment, PathNamesTheSameFoldersFromWhereAJobWorks) {
  std::string given = "PATH=bin:/usr/bin/:./x::/a/../b";
  char* pointers[] = {given.data(), nullptr};
  const auto here = std::filesystem::current_path().native();
  EXPECT_THAT(allowed_environment(pointers),
              ElementsAre(fmt::format("PATH={0}/bin:/usr/bin/:{0}/x:{0}/:/a/../b", here)));
}

TEST(Scripts, ElementsRunWhatIsParkedWhenAsked) {
  const auto run = some_run();
  const Chunk chunk{.offset = 0, .elements = {0}};
  EXPECT_THAT(element_requests(run, {chunk}, {}, 1, {"/bin/nkigrid", true}).front().script, HasSubstr(" --parked "));
  EXPECT_THAT(element_requests(run, {chunk}, {}, 1, {"/bin/nkigrid"}).front().script, Not(HasSubstr("--parked")));
}

/// Four nodes of 8 CPUs and 16 GB, one of 2 and 4.
std::vector<Partition> some_partitions() {
  Partition partition{.name = "trn1", .nodes = 5, .is_default = true};
  for (const char* name : {"n1", "n2", "n3", "n4"}) partition.sizes.push_back({name, 8, 16000});
  partition.sizes.push_back({"small", 2, 4000});
  return {{.name = "other"}, partition};
}

TEST(Room, OfSeveralPartitionsCountsANodeOnceAndOneThatFitsIsEnough) {
  const auto trn1 = some_partitions().back();
  std::vector<Partition> partitions = {trn1, trn1};
  partitions.back().name = "more";
  partitions.back().is_default = false;
  jobs::SlurmSpec spec;
  spec.partition = trn1.name;
  const auto alone = elements_that_fit(spec, partitions);
  spec.partition += ",more";
  EXPECT_EQ(elements_that_fit(spec, partitions), alone) << "the same nodes";
  partitions.back().nodes = 0;
  const JobRequest request{.resources = spec, .nodes = 1};
  EXPECT_NO_THROW(check_fits(request, partitions));
  partitions.front().nodes = 0;
  EXPECT_THROW(check_fits(request, partitions), Error);
}

TEST(Room, IsWhatTheNodesBearByCpusAndMemory) {
  const auto room = [](std::uint32_t ranks, std::uint32_t cpus,
                       const std::function<void(jobs::SlurmSpec&)>& more = {}) {
    jobs::SlurmSpec spec;
    spec.ranks_per_node = ranks;
    spec.cpus_per_rank = cpus;
    if (more) more(spec);
    return elements_that_fit(spec, some_partitions());
  };
  EXPECT_EQ(room(2, 2), 8u);
  EXPECT_EQ(room(2, 1), 17u);
  EXPECT_EQ(room(2, 2, [](auto& spec) { spec.mem = "16000M"; }), 4u);
  EXPECT_EQ(room(2, 2, [](auto& spec) { spec.mem = "0"; }), 4u) << "all of a node's memory";
  EXPECT_EQ(room(2, 2, [](auto& spec) { spec.extra = {"--exclusive"}; }), 4u);
  EXPECT_EQ(room(8, 1, [](auto& spec) { spec.nodes = 2; }), 2u);
  EXPECT_EQ(room(2, 2, [](auto& spec) { spec.exclude = "n[1-3]"; }), 2u);
  EXPECT_EQ(room(9, 1), 0u);
  EXPECT_EQ(room(1, 1, [](auto& spec) { spec.partition = "gone"; }), std::nullopt);
  EXPECT_EQ(room(1, 1, [](auto& spec) { spec.partition = "other"; }), std::nullopt) << "its nodes are not listed";
}

}  // namespace
}  // namespace nkigrid::slurm
