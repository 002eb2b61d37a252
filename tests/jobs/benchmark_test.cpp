#include "jobs/benchmark.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.hpp"
#include "jobs/base/error.hpp"
#include "jobs/benchmark/nkigrid_index.hpp"

namespace nkigrid::jobs {
namespace {

std::string fault_of(const Sandbox& box) {
  try {
    load_benchmark({box.path() / "bench"});
    return "no fault";
  } catch (const Error& error) {
    const std::string text = error.what();
    const auto at = text.find("index.json");
    return at == std::string::npos ? text : text.substr(at);
  }
}

TEST(Benchmark, HoldsTasksSortedWithSpecs) {
  const Sandbox box;
  const auto benchmark = load_benchmark({box.path() / "bench"});
  EXPECT_EQ(benchmark.name, "tiny-bench");
  ASSERT_EQ(benchmark.tasks.size(), 4U);
  const auto* task = benchmark.find("L1/001_add");
  ASSERT_NE(task, nullptr);
  EXPECT_EQ(task->level, "L1");
  EXPECT_EQ(task->inputs[1].shape, (std::vector<std::int64_t>{8, 16}));
  EXPECT_EQ(task->outputs[0].role, "output");
  EXPECT_EQ(task->constants[0].value, "0.5");
  EXPECT_THAT(task->source, testing::StartsWith("import torch\n"));
  EXPECT_THAT(benchmark.known_kernel("L1/001_add"), testing::StartsWith("# the known kernel of L1/001_add\n"));
  EXPECT_EQ(benchmark.find("L1/001"), nullptr);
  EXPECT_EQ(benchmark.subsets.at("ones").size(), 2U);
}

TEST(Benchmark, IsFoundByWhatLiesInAFolder) {
  const Sandbox box;
  const std::vector<std::filesystem::path> folders = {box.path() / "nowhere", box.path(), box.path() / "bench"};
  EXPECT_EQ(find_benchmark(folders), (BenchmarkPlace{box.path() / "bench", "nkigrid"}));
  EXPECT_EQ(find_benchmark(std::span(folders).first(2)), std::nullopt);
  EXPECT_THAT(benchmark_markers(), testing::HasSubstr("index.json"));
}

TEST(Benchmark, WrittenInOurOwnFormatReadsBackEqual) {
  const Sandbox box;
  const auto benchmark = load_benchmark({box.path() / "bench"});
  for (const auto& [name, bytes] : own_format_files(benchmark)) box.write(std::filesystem::path("copy") / name, bytes);
  const auto copy = load_benchmark({box.path() / "copy"});
  ASSERT_EQ(copy.tasks.size(), benchmark.tasks.size());
  for (std::size_t i = 0; i < copy.tasks.size(); ++i) {
    EXPECT_EQ(copy.tasks[i].hash, benchmark.tasks[i].hash);
    EXPECT_EQ(copy.tasks[i].level, benchmark.tasks[i].level);
  }
  EXPECT_EQ(copy.name, benchmark.name);
  EXPECT_EQ(copy.subsets, benchmark.subsets);
}

TEST(Benchmark, TheHashIsThatOfThePage) {
  // python3: d=json.dumps(entry, sort_keys=True, separators=(',',':')).encode(); s=source bytes
  //          sha256(len(s).to_bytes(8,'little') + s + len(d).to_bytes(8,'little') + d).hexdigest()
  const auto benchmark = load_benchmark({NKIGRID_TEST_DATA "/jobs/bench"});
  EXPECT_EQ(benchmark.find("L1/001_add")->hash, "4c85713062424ddecb8ea9742fd4cd22381f78c71ed7bedcf5ba34c5924eec76");
  EXPECT_EQ(benchmark.find("L1/002_relu")->index_entry,
            R"({"category":"activation","constants":[],"id":"L1/002_relu",)"
            R"("inputs":[{"bound":0,"domain":"real","dtype":"float32","name":"x","role":"input","shape":[8,16]}],)"
            R"("outputs":[{"dtype":"float32","shape":[8,16]}]})");
}

TEST(Benchmark, FaultsNameWhereTheyStand) {
  const auto fault = [](const std::string& what, const std::string& by) {
    const Sandbox box;
    box.edit("bench/index.json", what, by);
    return fault_of(box);
  };
  EXPECT_EQ(fault("\"dtype\": \"float32\"", "\"dtype\": \"float64\""),
            "index.json: task L1/001_add.inputs[0].dtype is 'float64' (one of float32, bfloat16, int32, "
            "uint8 is wanted)");
  EXPECT_EQ(fault("\"category\"", "\"categorie\""), "index.json: task L1/001_add has an unknown key 'categorie'");
  EXPECT_EQ(fault("\"ones\": [\"L1/001_add\"", "\"ones\": [\"L1/001_ad\""),
            "index.json: subset ones names \"L1/001_ad\", which is no task");
  EXPECT_EQ(fault("L1/002_relu\", \"category", "L1/001_add\", \"category"),
            "index.json: task L1/001_add stands in the index twice");
  EXPECT_EQ(fault("[8, 16]", "[8, 0]"),
            "index.json: task L1/001_add.inputs[0].shape holds 0 (a size of at least 1 is wanted)");
  EXPECT_EQ(fault("\"domain\": \"real\"", "\"domain\": \"index\""),
            "index.json: task L1/001_add.inputs[0] has domain index without a bound of at least 1");
  EXPECT_EQ(fault("\"version\": 1", "\"version\": 2"), "index.json: version is 2 (this program reads 1)");
  EXPECT_EQ(fault("\"version\": 1,", "\"version\": 1;"), "index.json:1:45: broken JSON; mend it");
  EXPECT_EQ(fault("L1/001_add\", \"category", "../../etc/passwd\", \"category"),
            "index.json: tasks[0].id is '../../etc/passwd' (level/name of letters, digits, _ and - is "
            "wanted, e.g. L1/002_gelu)");
}

TEST(Benchmark, AMissingTaskFileIsNamed) {
  const Sandbox box;
  std::filesystem::remove(box.path() / "bench/tasks/L2/001_add_relu.py");
  EXPECT_THAT(fault_of(box), testing::HasSubstr("bench/tasks/L2/001_add_relu.py': No such file or directory"));
}

TEST(Benchmark, AMissingKnownKernelIsEmpty) {
  const Sandbox box;
  std::filesystem::remove(box.path() / "bench/kernels/L1/001_add.py");
  EXPECT_EQ(load_benchmark({box.path() / "bench"}).known_kernel("L1/001_add"), "");
}

}  // namespace
}  // namespace nkigrid::jobs
