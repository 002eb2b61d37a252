#include "jobs/servers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/core.h>

#include "fixture.hpp"
#include "jobs/keys.hpp"
#include "jobs/own_run.hpp"

namespace nkigrid::jobs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// The fixture's grid in which model `strong` has this server, and `weak` asks the same where that is said.
struct ServedGrid : Sandbox {
  explicit ServedGrid(const std::string& server, const std::string& weak = "{api: synthetic, profile: weak}") {
    edit("grid.yaml", "strong: {api: synthetic, profile: strong}",
         fmt::format("strong: {{api: openai, model: m, server: {}}}", server));
    edit("grid.yaml", "weak:   {api: synthetic, profile: weak}", "weak: " + weak);
  }
};

TEST(Servers, AnEndpointThatIsANameStandsForThem) {
  const ServedGrid box("{command: [vllm, serve, m, --port, \"{port}\"], path: /api/v1, env: {A: b}}");
  const auto grid = load_grid(box.grid(), {});
  EXPECT_EQ(remote_of(grid.model("strong").api)->endpoint, "http://server-of-strong/api/v1");
  const auto* spec = own_server(grid.model("strong").api);
  ASSERT_NE(spec, nullptr);
  EXPECT_EQ(spec->replicas, 1u);
  EXPECT_EQ(spec->start_timeout, Seconds(1800));
  EXPECT_THAT(rights_of(grid), ElementsAre("starts A=b vllm serve m --port {port}"))
      << "who runs a stranger's run sees all of it";
}

TEST(Servers, SeveralModelsAskOne) {
  const ServedGrid box("{command: [vllm, \"{port}\"]}", "{api: openai, model: n, server: strong}");
  const auto grid = load_grid(box.grid(), {});
  EXPECT_EQ(remote_of(grid.model("weak").api)->endpoint, remote_of(grid.model("strong").api)->endpoint);
  EXPECT_EQ(own_server(grid.model("weak").api), nullptr);
  for (const std::set<std::string>& models : {std::set<std::string>{"weak"}, {"strong"}, {"weak", "strong"}}) {
    const auto servers = servers_of(grid, models);
    ASSERT_EQ(servers.size(), 1u);
    EXPECT_EQ(servers.front().name, "strong");
  }
  EXPECT_THAT(servers_of(grid, {}), testing::IsEmpty());
}

TEST(Servers, WhatIsWrittenReadsBackEqual) {
  const ServedGrid box(
      "{command: [vllm, \"a b\", \"{port}\"], env: {A_B: \"c: d\"}, replicas: 3, port: 8000, health: /ready, "
      "start_timeout: 90 s, slurm: {partition: gpu, gres: \"gpu:1\", mem: 8 GiB, cpus: 4, time: 2 h, extra: "
      "[\"--exclusive\"]}}",
      "{api: openai, model: n, server: strong}");
  const auto text = to_yaml(load_grid(box.grid(), {}));
  box.write("again.yaml", text);
  EXPECT_EQ(to_yaml(load_grid(box.path() / "again.yaml", {})), text);
  EXPECT_THAT(text, HasSubstr("gres: \"gpu:1\""));
  EXPECT_THAT(text, HasSubstr("server: strong"));
  EXPECT_THAT(text, Not(HasSubstr("server-of")));
}

TEST(Servers, AreNoPartOfAKey) {
  const ServedGrid here("{command: [vllm, \"{port}\"]}");
  const ServedGrid there("{command: [sglang, \"{port}\"], replicas: 4}");
  const auto key = [](const Sandbox& box) {
    const auto grid = load_grid(box.grid(), {});
    std::string all;
    for (const auto& cell : grid.cells) all += key_of(cell_key_fields(grid, cell), {});
    return all;
  };
  EXPECT_EQ(key(here), key(there));
}

TEST(Servers, MistakesAreToldWithoutAnythingThatMayBeAKey) {
  const auto lines = [](const std::string& server) { return lines_of(read_grid(ServedGrid(server).grid(), {})); };
  EXPECT_THAT(lines("{command: [vllm]}"), ElementsAre(HasSubstr("models.strong.server.command has no word {port}")));
  EXPECT_THAT(lines("{command: [vllm], port: 8000}"), ElementsAre()) << "it may know its port";
  EXPECT_THAT(lines("{command: vllm}"), ElementsAre(HasSubstr("a list of words is wanted")));
  EXPECT_THAT(lines("{port: 1}"), ElementsAre(HasSubstr("command")));
  EXPECT_THAT(lines("{command: [vllm, \"{port}\"], health: health}"), ElementsAre(HasSubstr("a path is wanted")));
  EXPECT_THAT(lines("{command: [vllm, \"{port}\"], nodes: 2}"), ElementsAre(HasSubstr("unknown key")));
  EXPECT_THAT(lines("weak"), ElementsAre(HasSubstr("models.strong.server is 'weak'")));
  for (const std::string word : {"sk-proj-0123456789abcdef0123456789abcdef", "--api-key=x"}) {
    const auto told = lines("{command: [vllm, \"{port}\", \"" + word + "\"]}");
    EXPECT_THAT(told, ElementsAre(HasSubstr("holds a key or an option that takes one")));
    EXPECT_THAT(told, ElementsAre(Not(HasSubstr(word))));
  }
}

TEST(Servers, PlacesAreFilledInAndOtherBracesStay) {
  const ServerPlace place{"0.0.0.0", 8001, 1};
  EXPECT_EQ(filled_in("{host}:{port}/{replica} {\"a\": 1} {port}", place), "0.0.0.0:8001/1 {\"a\": 1} 8001");
}

}  // namespace
}  // namespace nkigrid::jobs
