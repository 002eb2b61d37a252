#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "fixture.hpp"
#include "jobs/grid/grid.hpp"

namespace nkigrid::jobs {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(GridInclude, LaysAFileOverAnotherNameByName) {
  const Sandbox box;
  box.write("twin.yaml",
            "include: grid.yaml\nname: twin\nseed: 99\nmodels:\n  strong: {api: synthetic, profile: weak}\n"
            "check: {trials: 2}\n");
  const auto base = load_grid(box.grid(), {});
  const auto twin = read_grid(box.path() / "twin.yaml", {});
  ASSERT_TRUE(twin.grid) << to_text(twin.problems);
  EXPECT_EQ(twin.grid->name, "twin");
  EXPECT_EQ(twin.grid->seed, 99U);
  EXPECT_EQ(std::get<Synthetic>(twin.grid->model("strong").api).profile, "weak");
  EXPECT_EQ(std::get<Synthetic>(twin.grid->model("weak").api).profile, "weak");
  EXPECT_EQ(twin.grid->models.size(), base.models.size());
  EXPECT_EQ(twin.grid->cells.size(), base.cells.size());
  EXPECT_EQ(twin.grid->check.trials, 2U);
  EXPECT_EQ(twin.grid->check.atol, base.check.atol);
}

TEST(GridInclude, WhatIsWrongThereIsToldWhereItStands) {
  const Sandbox box;
  const auto words = [&] { return to_text(read_grid(box.path() / "twin.yaml", {}).problems); };
  box.write("bad.yaml", "# of a colleague\nseed: x\nmodes:\n  ss: {kind: single-shot, turn: 3}\n");
  box.write("twin.yaml", "name: twin\ninclude: [grid.yaml, bad.yaml]\n");
  EXPECT_THAT(words(), AllOf(HasSubstr("bad.yaml:2:7: seed is 'x'"), HasSubstr("bad.yaml:4:27: unknown key 'turn'")));
  EXPECT_THAT(words(), Not(HasSubstr("twin.yaml")));
  box.write("bad.yaml", "a: [1\n");
  EXPECT_THAT(words(), HasSubstr("bad.yaml:1:4: broken YAML: '[' is not closed"));
}

TEST(GridInclude, WhatCannotBeIncludedIsAllThatIsTold) {
  const Sandbox box;
  const auto lines = [&] { return lines_of(read_grid(box.path() / "twin.yaml", {})); };
  box.write("twin.yaml", "include: none.yaml\n");
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("1:10 no file 'none.yaml' to include")));
  box.write("twin.yaml", "include: twin.yaml\n");
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("1:10 'twin.yaml' is included by itself")));
  box.write("twin.yaml", "include: [grid.yaml, other.yaml]\n");
  box.write("other.yaml", "# round\ninclude: twin.yaml\n");
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("2:10 'twin.yaml' is included by itself")));
  EXPECT_THAT(to_text(read_grid(box.path() / "twin.yaml", {}).problems), HasSubstr("other.yaml:2:10: "));
}

TEST(GridInclude, WhatAFileNamesStandsBesideIt) {
  const Sandbox box;
  std::filesystem::create_directories(box.path() / "twins/prompts");
  box.write("twins/prompts/plain.md", "Of the twin.");
  box.write("twins/twin.yaml", "include: ../grid.yaml\nname: twin\n");
  const auto base = load_grid(box.grid(), {});
  auto twin = read_grid(box.path() / "twins/twin.yaml", {});
  ASSERT_TRUE(twin.grid) << to_text(twin.problems);
  EXPECT_EQ(twin.grid->prompt("plain").text, base.prompt("plain").text) << "the grid that names it is the other one";
  box.write("twins/twin.yaml", "include: ../grid.yaml\nprompts: {plain: prompts/plain.md}\n");
  twin = read_grid(box.path() / "twins/twin.yaml", {});
  ASSERT_TRUE(twin.grid) << to_text(twin.problems);
  EXPECT_EQ(twin.grid->prompt("plain").text, "Of the twin.");
}

TEST(GridInclude, AnEmptyValueTakesOutWhatItIsLaidOver) {
  const Sandbox box;
  box.write("base.yaml", "include: grid.yaml\nbudget: {usd: 5}\ncheck: {trials: 2}\n");
  box.write("twin.yaml", "include: base.yaml\nbudget:\ncheck: {trials: null}\n");
  const auto twin = read_grid(box.path() / "twin.yaml", {});
  ASSERT_TRUE(twin.grid) << to_text(twin.problems);
  EXPECT_FALSE(twin.grid->budget.usd);
  EXPECT_EQ(twin.grid->check.trials, load_grid(box.grid(), {}).check.trials);
}

TEST(GridSet, OverridesKeysAndIsRecorded) {
  const Sandbox box;
  const auto result =
      read_grid(box.grid(), {}, {.sets = {"models.weak.temperature=0.2", "replicates=7", "name=other"}});
  ASSERT_TRUE(result.grid) << to_text(result.problems);
  EXPECT_EQ(result.grid->model("weak").temperature, 0.2);
  EXPECT_EQ(result.grid->name, "other");
  EXPECT_THAT(to_yaml(*result.grid), HasSubstr("temperature: 0.2"));
}

TEST(GridSet, MakesTheSectionThatTheFileLacksOrLeavesEmpty) {
  const Sandbox box;
  box.write("bare.yaml",
            "benchmark: bench\ntasks: [\"*\"]\nmodels: {weak: {api: synthetic}}\nmodes: {ss: {kind: single-shot}}\n"
            "prompts: {plain: prompts/plain.md}\ncells: [{model: weak, mode: ss, prompt: plain}]\nslurm:\n");
  const auto result =
      read_grid(box.path() / "bare.yaml", {}, {.sets = {"check.atol=1e-5", "check.trials=3", "slurm.shards=2"}});
  ASSERT_TRUE(result.grid) << to_text(result.problems);
  EXPECT_EQ(result.grid->check.atol, 1e-5);
  EXPECT_EQ(result.grid->check.trials, 3U);
  EXPECT_EQ(result.grid->slurm.shards, 2U);
}

TEST(GridSet, WhatDoesNotFitIsToldInWords) {
  const Sandbox box;
  const auto words = [&](const std::string& set) {
    return to_text(read_grid(box.grid(), {}, {.sets = {set}}).problems);
  };
  EXPECT_THAT(words("seed"), HasSubstr("--set 'seed' has no value (KEY.KEY=VALUE is wanted)"));
  EXPECT_THAT(words("modls.weak.top_p=1"), HasSubstr("unknown key 'modls' (did you mean 'models'?)"));
  EXPECT_THAT(words("models.waek.top_p=1"), HasSubstr("no 'waek' in models (did you mean 'weak'?)"));
  EXPECT_THAT(words("seed.first=1"), HasSubstr("seed is '"));
  EXPECT_THAT(words("slurm.shrads=1"), HasSubstr("unknown key 'shrads' in slurm (did you mean 'shards'?)"));
  EXPECT_THAT(words("models.weak.temprature=1"), HasSubstr("unknown key 'temprature' in models.weak"));
  EXPECT_THAT(words("seed=[1"), HasSubstr("the value is no YAML"));
  EXPECT_EQ(words("replicates=many").rfind("--set 'replicates=many': replicates is 'many'", 0), 0U)
      << "the file is not to blame";
  EXPECT_THAT(words("budgte=null"), HasSubstr("there is no 'budgte' to take out"));
  EXPECT_THAT(words("cells.0.replicates=2"),
              HasSubstr("cells is a list in this grid, which has no keys; set it whole"));
}

TEST(GridSet, NothingTakesAKeyOut) {
  const Sandbox box;
  const auto result = read_grid(
      box.grid(), {},
      {.sets = {"models.weak.temperature=0.5", "budget.usd=5", "budget=null", "models.weak.temperature=null"}});
  ASSERT_TRUE(result.grid) << to_text(result.problems);
  EXPECT_FALSE(result.grid->budget.usd);
  EXPECT_EQ(result.grid->model("weak").temperature, std::nullopt);
}

}  // namespace
}  // namespace nkigrid::jobs
