#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.hpp"

namespace nkigrid::jobs {
namespace {

using testing::ElementsAre;

const char* kCells = "  - {model: [weak, strong], mode: [ss, agent], prompt: careful}\n";

Grid with_cells(const Sandbox& box, const std::string& cells) {
  auto result = box.read_edited(kCells, cells);
  if (!result.grid) throw std::logic_error(to_text(result.problems));
  return *result.grid;
}

TEST(Cells, EntriesAreProductsAndSameIdsAreUnited) {
  const Sandbox box;
  const auto grid = with_cells(box,
                               "  - {model: weak, mode: ss, prompt: [plain, careful], tasks: ones}\n"
                               "  - {model: weak, mode: ss, prompt: plain, tasks: [\"L3/*\"], replicates: 7}\n");
  ASSERT_EQ(grid.cells.size(), 2U);
  EXPECT_EQ(grid.cells[0].id, "weak.ss.plain");
  EXPECT_THAT(grid.cells[0].tasks, ElementsAre("L1/001_add", "L1/002_relu", "L3/001_softmax_norm"));
  EXPECT_EQ(grid.cells[0].replicates, 7U);
  EXPECT_EQ(grid.cells[0].subset, "");
  EXPECT_EQ(grid.cells[1].subset, "ones");
  EXPECT_EQ(grid.cells[1].replicates, 2U);
}

TEST(Cells, AUnionKeepsTheNameOfTheSubsetThatHoldsAll) {
  const Sandbox box;
  const auto grid = with_cells(box,
                               "  - {model: weak, mode: ss, prompt: plain, tasks: ones}\n"
                               "  - {model: weak, mode: ss, prompt: plain, tasks: all-four}\n");
  ASSERT_EQ(grid.cells.size(), 1U);
  EXPECT_EQ(grid.cells[0].subset, "all-four");
}

TEST(Cells, GlobsMatchWholeIds) {
  const Sandbox box;
  const auto grid = with_cells(box, "  - {model: weak, mode: ss, prompt: plain, tasks: [\"*/001_a*\", L1/002_relu]}\n");
  EXPECT_THAT(grid.cells[0].tasks, ElementsAre("L1/001_add", "L1/002_relu", "L2/001_add_relu"));
}

TEST(Cells, ASubsetsTasksAreSortedWhateverItsOrder) {
  const Sandbox box;
  EXPECT_THAT(with_cells(box, "  - {model: weak, mode: ss, prompt: plain, tasks: mixed}\n").cells[0].tasks,
              ElementsAre("L1/001_add", "L3/001_softmax_norm"));
}

TEST(Cells, TwoBudgetsForOneCellAreRefused) {
  const Sandbox box;
  const auto result = box.read_edited(kCells,
                                      "  - {model: weak, mode: ss, prompt: plain, budget: {usd: 1}}\n"
                                      "  - {model: weak, mode: ss, prompt: plain, budget: {usd: 2}}\n");
  EXPECT_THAT(lines_of(result), ElementsAre("16:5 cell weak.ss.plain has two different budgets; give one"));
}

TEST(Cells, AnEmptyListIsAProblem) {
  const Sandbox box;
  box.edit("grid.yaml", "cells:\n", "cells: []\n");
  EXPECT_THAT(lines_of(box.read_edited(kCells, "")),
              ElementsAre("14:8 cells is an empty list (a list of products is wanted); write e.g. - {model: "
                          "M, mode: O, prompt: P}"));
}

TEST(Cells, AGridOfTooManyEpisodesIsRefused) {
  const Sandbox box;
  EXPECT_THAT(lines_of(box.read_edited("replicates: 2", "replicates: 1000000")),
              ElementsAre("15:3 the grid has 16000000 episodes (at most 10000000); split it into several runs"));
}

TEST(Contrasts, DefaultIsEachModelAndModeAgainstTheFirst) {
  const Sandbox box;
  const auto grid = load_grid(box.grid(), {});
  ASSERT_EQ(grid.contrasts.size(), 2U);
  EXPECT_EQ(grid.contrasts[0].name, "strong-vs-weak");
  EXPECT_EQ(grid.contrasts[0].a.at("model"), "strong");
  EXPECT_EQ(grid.contrasts[0].b.at("model"), "weak");
  EXPECT_EQ(grid.contrasts[1].name, "agent-vs-ss");
  EXPECT_THAT(grid.contrasts[1].scope, ElementsAre("all"));
}

TEST(Contrasts, ValuesAndScopesMustExist) {
  const Sandbox box;
  const auto result = box.read_edited("slurm:",
                                      "contrasts:\n"
                                      "  - {name: tools, a: {mode: agnt}, b: {mode: ss}, scope: [all, L4]}\n"
                                      "  - {name: tools, a: {mode: ss}, b: {mode: ss}}\n"
                                      "  - {name: p, a: {prompt: plain}, b: {prompt: careful}}\n"
                                      "slurm:");
  EXPECT_THAT(
      lines_of(result),
      ElementsAre(
          "17:29 no cell has mode 'agnt' (did you mean 'agent'?)",
          testing::AllOf(testing::StartsWith("17:64 no scope 'L4'"),
                         testing::HasSubstr("(all, or a level that a cell's tasks have, or category:NAME of theirs)")),
          "18:5 contrasts[1] compares a thing with itself", "18:5 two contrasts are named 'tools'; name each apart",
          "19:27 no cell has prompt 'plain'"));
}

TEST(Contrasts, AScopeMayBeACategoryOfTheCellsTasks) {
  const auto with = [](const char* scope) {
    const Sandbox box;
    return box.read_edited(
        "slurm:",
        fmt::format(
            "contrasts:\n  - {{name: tools, a: {{mode: agent}}, b: {{mode: ss}}, scope: [all, \"{}\"]}}\nslurm:",
            scope));
  };
  const auto good = with("category:fused");
  EXPECT_THAT(lines_of(good), testing::IsEmpty());
  EXPECT_THAT(good.grid->contrasts.at(0).scope, ElementsAre("all", "category:fused"));
  EXPECT_THAT(lines_of(with("category:fusd")),
              ElementsAre(testing::HasSubstr("no scope 'category:fusd' (did you mean 'category:fused'?)")));
  EXPECT_THAT(lines_of(with("fused")), ElementsAre(testing::HasSubstr("no scope 'fused'")))
      << "levels and categories share no names";
}

TEST(Contrasts, FactorsNameATwoByTwo) {
  const Sandbox box;
  const auto result = box.read_edited("slurm:", "factors: {tools: [ss, agent], strength: [weak, strong]}\nslurm:");
  ASSERT_TRUE(result.grid) << to_text(result.problems);
  EXPECT_THAT(result.grid->factors.at("tools").at("mode"), ElementsAre("ss", "agent"));
  EXPECT_THAT(result.grid->factors.at("strength").at("model"), ElementsAre("weak", "strong"));
  const Sandbox other;
  EXPECT_THAT(lines_of(other.read_edited("slurm:", "factors: {tools: [ss, agent], more: [agent, ss]}\nslurm:")).at(0),
              testing::HasSubstr("factors.more: 'agent' and 'ss' must be two models, two modes or two prompts"));
}

}  // namespace
}  // namespace nkigrid::jobs
