#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.hpp"
#include "jobs/grid/flow_map.hpp"

namespace nkigrid::jobs {
namespace {

TEST(GridWriter, ReadsBackToTheSameText) {
  const Sandbox box;
  box.edit("grid.yaml", "strong: {api: synthetic, profile: strong}",
           "strong: {api: openai, endpoint: \"http://h:1/v1\", model: \"Org/M: 7B\", temperature: 0.7, "
           "top_p: 0.95, max_tokens: 100, "
           "call_recovery: false, concurrency: 3, request_timeout: 90 s, retry_limit: 250 ms, key: {command: "
           "[sh, -c, \"echo 'x y'\"]}, "
           "price: {input: 0.1, output: 25}, method: \"yes\", budget: {usd: 0.5, tokens: 100, wall: 2 h}}");
  box.edit("grid.yaml", "turns: 4}",
           "turns: 4, stop_on_pass: false, tools: {diagnostics: plain}, nudge: \"say \\\"it\\\"\\nagain: \\t\\\\ #x\", "
           "context: {on_full: "
           "stop}}");
  box.edit("grid.yaml", "slurm: {shards: 3}",
           "check: {atol: 1.0e-5, rtol: 0, sandbox: relaxed}\nlanes: 7\nbudget: {tokens: 5}\nfactors: {t: "
           "[ss, agent], m: [weak, strong]}\n"
           "contrasts:\n  - {name: \"a: b\", a: {model: weak, mode: ss}, b: {mode: agent}, scope: [L1, "
           "\"category:activation\"]}\n"
           "slurm: {shards: 3, mem: 64 GiB, partition: p-1, gres: \"neuron:4\", extra: [\"--foo=1 2\"], "
           "time: 1-00:00:00, exclude: \"n[1-3]\"}");
  const auto grid = load_grid(box.grid(), {});
  const auto text = to_yaml(grid);
  box.write("again.yaml", text);
  const auto again = load_grid(box.path() / "again.yaml", {});
  EXPECT_EQ(to_yaml(again), text);
  EXPECT_EQ(again.mode("agent").tools.diagnostics, Diagnostics::plain);
  EXPECT_EQ(again.mode("ss").tools.diagnostics, Diagnostics::explained);
  EXPECT_EQ(again.mode("agent").nudge, "say \"it\"\nagain: \t\\ #x");
  EXPECT_EQ(remote_of(again.model("strong").api)->model, "Org/M: 7B");
  EXPECT_EQ(again.model("strong").method, "yes");
  EXPECT_EQ(remote_of(again.model("strong").api)->key.command, (std::vector<std::string>{"sh", "-c", "echo 'x y'"}));
  EXPECT_EQ(again.slurm.mem, "65536M");
  EXPECT_EQ(again.slurm.gres, "neuron:4");
  EXPECT_EQ(again.check.atol, 1e-5);
  EXPECT_EQ(again.cells[0].subset, "all-four");
  EXPECT_EQ(again.factors, grid.factors);
}

TEST(GridWriter, NamesTheFormatOfABenchmarkThatIsNotOurOwn) {
  const Sandbox box;
  auto grid = load_grid(box.grid(), {});
  EXPECT_THAT(to_yaml(grid), testing::HasSubstr("\nbenchmark: " + yaml_scalar(grid.benchmark.folder.native()) + "\n"));
  grid.benchmark.format = "other";
  EXPECT_THAT(to_yaml(grid), testing::HasSubstr("\nbenchmark: {path: " + yaml_scalar(grid.benchmark.folder.native()) +
                                                ", format: other}\n"));
}

TEST(GridWriter, KeepsTaskListsThatHaveNoName) {
  const Sandbox box;
  box.edit("grid.yaml", "tasks: all-four", "tasks: [\"L1/*\", L3/001_softmax_norm]");
  const auto grid = load_grid(box.grid(), {});
  box.write("again.yaml", to_yaml(grid));
  const auto again = load_grid(box.path() / "again.yaml", {});
  EXPECT_EQ(again.cells[0].tasks, grid.cells[0].tasks);
  EXPECT_EQ(again.cells[0].subset, "");
}

}  // namespace
}  // namespace nkigrid::jobs
