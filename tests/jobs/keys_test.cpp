#include "jobs/keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fixture.hpp"
#include "jobs/make_plan.hpp"
#include "jobs/plan.hpp"

namespace nkigrid::jobs {
namespace {

const char* kStrong = "strong: {api: synthetic, profile: strong}";

/// The key of (strong.agent.careful, L1/001_add) after an edit.
std::string key_after(const std::string& what, const std::string& by, const std::string& file = "grid.yaml",
                      const std::string& strong =
                          "strong: {api: openai, endpoint: \"http://h\", model: m, concurrency: 2, price: "
                          "{input: 1, output: 2}}") {
  const Sandbox box;
  box.edit("grid.yaml", kStrong, strong);
  if (!what.empty()) box.edit(file, what, by);
  const auto grid = load_grid(box.grid(), {});
  const auto plan = make_plan(grid, load_benchmark(grid.benchmark));
  for (std::uint32_t i = 0; i < plan.cells.size(); ++i) {
    if (plan.cells[i].id == "strong.agent.careful") return plan.key(i, 0);
  }
  throw std::logic_error("the cell is gone");
}

std::string synthetic_key_after(const std::string& what, const std::string& by, const std::string& file) {
  return key_after(what, by, file, kStrong);
}

TEST(Keys, DependOnWhatAnEpisodeDependsOn) {
  const auto key = key_after("", "");
  EXPECT_NE(key_after("model: m,", "model: other,"), key);
  EXPECT_NE(key_after("model: m,", "model: m, temperature: 0.5,"), key);
  EXPECT_NE(key_after("turns: 4", "turns: 5"), key);
  EXPECT_NE(key_after("turns: 4", "turns: 4, nudge: x"), key);
  EXPECT_NE(key_after("turns: 4", "turns: 4, tools: {diagnostics: plain}"), key);
  EXPECT_EQ(key_after("turns: 4", "turns: 4, tools: {diagnostics: explained}"), key);
  EXPECT_NE(key_after("every element", "all elements", "prompts/careful.md"), key);
  EXPECT_NE(key_after("slurm:", "check: {atol: 1.0e-4}\nslurm:"), key);
  EXPECT_NE(key_after("slurm:", "device: {sdk: \"2.25\"}\nslurm:"), key);
  EXPECT_NE(key_after("slurm:", "device: {strict_paper_names: true}\nslurm:"), key);
  EXPECT_NE(key_after("slurm:", "device: {strict: \"2.24\"}\nslurm:"), key);
  EXPECT_NE(key_after("0.5 * y", "0.25 * y", "bench/tasks/L1/001_add.py"), key);
  EXPECT_NE(key_after("\"value\": \"0.5\"", "\"value\": \"0.25\"", "bench/index.json"), key);
}

TEST(Keys, DependOnWhatADeviceComputesAndNotOnWhereItsPartsLie) {
  const auto device = [](const std::string& fields) { return key_after("slurm:", "device: {" + fields + "}\nslurm:"); };
  const auto neuron = device("backend: neuron");
  EXPECT_NE(neuron, key_after("", ""));
  EXPECT_EQ(neuron, device("backend: neuron, python: /opt/bin/python3, libnrt: /opt/lib/libnrt.so, cores: [1]"));
  EXPECT_NE(neuron, device("backend: neuron, compiler_flags: [\"-O1\"]"));
  EXPECT_NE(device("backend: neuron, compiler_flags: [a, b]"), device("backend: neuron, compiler_flags: [\"a, b\"]"));
  const auto command = device("backend: command, name: cc 1, compile: [cc], verify: [rr]");
  EXPECT_EQ(command, device("backend: command, name: cc 1, compile: [/opt/cc], verify: [rr, --fast]"));
  EXPECT_NE(command, device("backend: command, name: cc 2, compile: [cc], verify: [rr]"));
}

TEST(Keys, DoNotDependOnSeedReplicatesEndpointConcurrencyOrPrice) {
  const auto key = key_after("", "");
  EXPECT_EQ(key_after("seed: 11", "seed: 12"), key);
  EXPECT_EQ(key_after("replicates: 2", "replicates: 9"), key);
  EXPECT_EQ(key_after("http://h", "https://other:9/v1"), key);
  EXPECT_EQ(key_after("concurrency: 2", "concurrency: 9"), key);
  EXPECT_EQ(key_after("price: {input: 1, output: 2}", "price: {input: 3, output: 2}"), key);
  EXPECT_EQ(key_after("model: m,", "model: m, key: {env: K},"), key);
  EXPECT_EQ(key_after("shards: 3", "shards: 4"), key);
  EXPECT_EQ(key_after("known kernel", "other kernel", "bench/kernels/L1/001_add.py"), key);
  EXPECT_EQ(key_after("slurm:", "check: {compile_timeout: 2 min}\nslurm:"), key) << "120 s in other words";
}

TEST(Keys, ToolsAndDocsAreParameters) {
  const auto key_of_tools = [](const std::string& tools, const std::string& page) {
    const Sandbox box;
    box.write("docs/a.md", page);
    box.edit("grid.yaml", "turns: 4", "turns: 4, tools: " + tools);
    const auto grid = load_grid(box.grid(), {});
    const auto benchmark = load_benchmark(grid.benchmark);
    const auto plan = make_plan(grid, benchmark);
    return plan.key(1, 0);
  };
  const auto usual = key_of_tools("{}", "x");
  EXPECT_EQ(key_of_tools("{offer: [verify_kernel, compile_kernel]}", "x"), usual) << "said or not";
  const auto profile = key_of_tools("{offer: [compile_kernel, verify_kernel, profile_kernel]}", "x");
  EXPECT_NE(profile, usual);
  const std::string docs = "{offer: [compile_kernel, verify_kernel, read_docs], docs: docs}";
  EXPECT_NE(key_of_tools(docs, "x"), key_of_tools(docs, "y"));
  EXPECT_NE(key_of_tools(docs, "x"), profile);
}

TEST(Keys, ASyntheticModelsProfileAndKnownKernelAreParameters) {
  const auto key = synthetic_key_after("seed: 11", "seed: 12", "grid.yaml");
  EXPECT_NE(synthetic_key_after("0.9", "0.8", "profiles/strong.yaml"), key);
  EXPECT_NE(synthetic_key_after("known kernel", "other kernel", "bench/kernels/L1/001_add.py"), key);
  EXPECT_EQ(synthetic_key_after("0.3", "0.2", "profiles/weak.yaml"), key);
}

TEST(Keys, FieldsCannotRunIntoEachOther) {
  EXPECT_NE(key_of({{"a", "xy"}, {"b", "z"}}, {}), key_of({{"a", "x"}, {"b", "yz"}}, {}));
  // python3: sha256(b''.join(len(f).to_bytes(8,'little')+f for f in [b'xy', b'', b'z'])).hexdigest()[:16]
  EXPECT_EQ(key_of({{"a", "xy"}, {"b", ""}}, {{"c", "z"}}), "a957d6425d29f90f");
}

TEST(Keys, TheGridHashIsOverTheSortedKeys) {
  Plan plan;
  plan.cells.resize(2);
  plan.tasks.resize(2);
  plan.keys = {"00000000000000bb", "", "00000000000000aa", "00000000000000cc"};
  // python3: sha256(b''.join((16).to_bytes(8,'little')+k for k in [b'0'*14+b'aa', b'0'*14+b'bb',
  // b'0'*14+b'cc'])).hexdigest()
  EXPECT_EQ(grid_hash(plan), "181099ff87a8a9ee0a4c909c67002143128abcade85f6089f3c7948898647b63");
}

}  // namespace
}  // namespace nkigrid::jobs
