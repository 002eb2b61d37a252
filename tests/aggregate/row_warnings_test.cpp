#include "aggregate/tables/row_warnings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "aggregate/layout/render.hpp"
#include "aggregate/statistics/paired.hpp"
#include "tests/aggregate/made_run.hpp"

namespace nkigrid::aggregate {
namespace {

using test::ended, test::join, test::made_run, test::made_tasks, test::number_of;
using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty, testing::Not;

CellRow cell(const char* name, Interval interval, std::optional<Range> rerun) {
  CellRow row{name, "m", "ss", "p", "", {}, {}};
  row.total.interval = interval;
  row.total.run_to_run = rerun;
  return row;
}

TEST(RowWarnings, NameCellsWhoseIntervalIsNarrowerThanRunToRun) {
  Tables tables;
  tables.cells = {cell("narrow", {"bca", 0.24, 0.39}, Range{0.20, 0.41}),
                  cell("wide", {"bca", 0.1, 0.5}, Range{0.20, 0.41}), cell("one", {"wilson", 0.1, 0.2}, {})};
  const auto warnings = row_warnings(tables);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].table, TableName::cells);
  EXPECT_THAT(warnings[0].text, testing::StartsWith("narrow: the interval is narrower than run to run"));
}

TEST(RowWarnings, NameLevelsOfFewerThanFiveTasksWhereARowSpansThem) {
  const auto of_levels = [](std::vector<std::pair<const char*, std::uint32_t>> sizes) {
    Tables tables;
    tables.cells = {cell("c", {"bca", 0.2, 0.5}, {})};
    for (const auto& [level, tasks] : sizes) tables.cells[0].levels.push_back({level, {.tasks = tasks}});
    return row_warnings(tables);
  };
  EXPECT_THAT(of_levels({{"L1", 12}, {"L2", 5}}), IsEmpty());
  EXPECT_THAT(of_levels({{"L3", 4}}), IsEmpty()) << "nothing is drawn within levels";
  const auto warnings = of_levels({{"L1", 12}, {"L2", 8}, {"L3", 4}});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0].text,
              testing::StartsWith("a level with fewer than 5 tasks (L3 has 4) understates the spread"));
  Tables told;
  told.row_warnings = warnings;
  for (const auto name :
       {TableName::cells, TableName::pairs, TableName::modes, TableName::ablation, TableName::replicates})
    EXPECT_EQ(warnings_of(told, {name}).size(), 1u) << to_string(name);
  EXPECT_THAT(warnings_of(told, {TableName::flips}), IsEmpty());
}

PairRow pair(const char* a, const char* scope, double low, double high, double p) {
  PairRow row{a,           "b", "c", scope,          "contrasts", 24, 0, (low + high) / 2, Interval{"bca", low, high},
              "sign-flip", p,   p,   "not-separated"};
  return row;
}

TEST(RowWarnings, NamePairsWhoseIntervalAndTestDisagree) {
  Tables tables;
  tables.pairs = {pair("x", "all", 0.01, 0.2, 0.08), pair("y", "L1", -0.01, 0.2, 0.04),
                  pair("z", "all", 0.01, 0.2, 0.04), pair("w", "all", -0.1, 0.2, 0.4)};
  const auto warnings = row_warnings(tables);
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(warnings[0].text,
            "x - b: the interval leaves out 0, but the test does not (p > 0.05); go by the test, which is exact");
  EXPECT_EQ(warnings[1].text,
            "y - b (L1): p is at most 0.05, but the interval holds 0; go by the test, which is exact");
}

TEST(RowWarnings, SpellOutFourRowsAndCountTheOthers) {
  Tables tables;
  for (const char* name : {"a1", "a2", "a3", "a4", "a5", "a6"})
    tables.pairs.push_back(pair(name, "all", 0.01, 0.2, 0.08));
  EXPECT_THAT(row_warnings(tables).at(0).text, testing::StartsWith("a1 - b; a2 - b; a3 - b; a4 - b; and 2 more: "));
}

TEST(RowWarnings, StandWithTheTableThatHoldsTheRowsAndInEveryDocument) {
  Tables tables;
  tables.run = "made";
  tables.warnings = {"of the whole"};
  tables.row_warnings = {{TableName::pairs, "of a pair"}, {TableName::interactions, "of an interaction"}};
  EXPECT_THAT(warnings_of(tables, {TableName::cells}), ElementsAre("of the whole"));
  EXPECT_THAT(warnings_of(tables, {TableName::pairs}), ElementsAre("of the whole", "pairs: of a pair"));
  const auto document = nlohmann::json::parse(render(tables, {}, Format::json));
  EXPECT_EQ(document["warnings"], (nlohmann::json{"of the whole", "pairs: of a pair"}));
  EXPECT_THAT(render(tables, {TableName::cells}, Format::text), Not(HasSubstr("of a pair")));
}

// The test's sums have variance sum d^2, the interval's sum (d - mean of the level)^2: levels that differ set them
// apart.
TEST(RowWarnings, LevelsThatDifferSetIntervalAndTestApart) {
  auto made =
      made_run({"m.ss.p", "m.agent.p"}, join(made_tasks("L1", 5), made_tasks("L2", 40)), 1, [](const EpisodeId& id) {
        const int i = number_of(id);
        if (id.task.starts_with("L1")) return ended(id.cell == "m.agent.p");  // all five won
        return ended(id.cell == "m.agent.p" ? i < 1 : i == 30);               // one won, one lost
      });
  made.run.grid.contrasts = {{"tools", {{"mode", "agent"}}, {{"mode", "ss"}}, {"all"}}};
  const auto tables = make_tables(made.run, made.ledger);
  ASSERT_EQ(tables.pairs.size(), 1u);
  EXPECT_DOUBLE_EQ(*tables.pairs[0].p, mcnemar_exact(6, 1));  // 0.125
  EXPECT_GT(tables.pairs[0].interval->low, 0);
  ASSERT_EQ(tables.row_warnings.size(), 1u);
  EXPECT_THAT(tables.row_warnings[0].text, HasSubstr("m.agent.p - m.ss.p: the interval leaves out 0"));
}

TEST(RowWarnings, AreNoneWhereNothingDisagrees) {
  const auto made =
      made_run({"m.ss.p"}, made_tasks("L1", 60), 1, [](const EpisodeId& id) { return ended(number_of(id) % 2 == 0); });
  EXPECT_THAT(make_tables(made.run, made.ledger).row_warnings, IsEmpty());
}

}  // namespace
}  // namespace nkigrid::aggregate
