#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.hpp"
#include "jobs/grid/grid.hpp"

namespace nkigrid::jobs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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

TEST(GridInclude, WhatIsWrongThereIsToldAtTheLineThatNamesIt) {
  const Sandbox box;
  box.write("bad.yaml", "seed: x\n");
  box.write("twin.yaml", "name: twin\ninclude: [grid.yaml, bad.yaml]\n");
  EXPECT_THAT(lines_of(read_grid(box.path() / "twin.yaml", {})), ElementsAre(HasSubstr("2:22 seed is 'x'")));
  box.write("twin.yaml", "include: none.yaml\n");
  EXPECT_THAT(lines_of(read_grid(box.path() / "twin.yaml", {})),
              testing::Contains(HasSubstr("1:10 no file 'none.yaml' to include")));
  box.write("twin.yaml", "include: twin.yaml\n");
  EXPECT_THAT(to_text(read_grid(box.path() / "twin.yaml", {}).problems), HasSubstr("does it include itself?"));
  box.write("bad.yaml", "a: [1\n");
  box.write("twin.yaml", "include: bad.yaml\n");
  EXPECT_THAT(to_text(read_grid(box.path() / "twin.yaml", {}).problems), HasSubstr("bad.yaml', line"));
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
}

}  // namespace
}  // namespace nkigrid::jobs
