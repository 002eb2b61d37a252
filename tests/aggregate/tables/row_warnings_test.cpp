#include "aggregate/tables/row_warnings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "aggregate/statistics/paired.hpp"
#include "aggregate/tables/pairs.hpp"
#include "tests/aggregate/made_evidence.hpp"

namespace nkigrid::aggregate {
namespace {

using test::ended, test::join, test::made_run, test::made_tasks, test::number_of, test::named;
using testing::Contains, testing::ElementsAre, testing::HasSubstr, testing::IsEmpty, testing::Not, testing::StartsWith;

CellRow cell(const char* name, Interval interval, std::optional<Range> rerun) {
  CellRow row{name, "m", "ss", "p", "", {}, {}, {}};
  row.total.interval = interval;
  row.total.run_to_run = rerun;
  return row;
}

TEST(RowWarnings, NameCellsWhoseIntervalIsNarrowerThanRunToRun) {
  EXPECT_THAT(warn_of_narrow_intervals({cell("narrow", {"bca", 0.24, 0.39}, Range{0.20, 0.41}),
                                        cell("wide", {"bca", 0.1, 0.5}, Range{0.20, 0.41}),
                                        cell("one", {"wilson", 0.1, 0.2}, {})}),
              ElementsAre(StartsWith("cells: narrow: the interval is narrower than run to run")));
}

TEST(RowWarnings, NameLevelsOfFewerThanFiveTasksWhereARowSpansThem) {
  const auto of_levels = [](std::vector<std::pair<const char*, std::uint32_t>> sizes) {
    auto row = cell("c", {"bca", 0.2, 0.5}, {});
    for (const auto& [level, tasks] : sizes) row.levels.push_back({level, {.tasks = tasks}});
    return std::vector{row};
  };
  EXPECT_THAT(warn_of_small_levels(of_levels({{"L1", 12}, {"L2", 5}}), true), IsEmpty());
  EXPECT_THAT(warn_of_small_levels(of_levels({{"L3", 4}}), true), IsEmpty()) << "nothing is drawn within levels";
  const auto small = of_levels({{"L1", 12}, {"L2", 8}, {"L3", 4}});
  EXPECT_THAT(warn_of_small_levels(small, false), IsEmpty()) << "nothing is drawn at all";
  EXPECT_THAT(warn_of_small_levels(small, true),
              ElementsAre(StartsWith("cells: a level with fewer than 5 tasks (L3 has 4) understates the spread")));
  for (const auto* table : named({"cells", "pairs", "modes", "ablation", "interactions", "replicates"}))
    EXPECT_THAT(table->checks, Contains(RowCheck::small_levels)) << table->name;
  EXPECT_THAT(named({"flips"}).front()->checks, IsEmpty());
}

PairRow pair(const char* a, const char* scope, double low, double high, double p) {
  PairRow row{a,           "b", "c", scope,          "contrasts", 24, 0, (low + high) / 2, Interval{"bca", low, high},
              "sign-flip", p,   p,   "not-separated"};
  return row;
}

TEST(RowWarnings, NamePairsWhoseIntervalAndTestDisagree) {
  const std::vector<PairRow> pairs{pair("x", "all", 0.01, 0.2, 0.08), pair("y", "L1", -0.01, 0.2, 0.04),
                                   pair("z", "all", 0.01, 0.2, 0.04), pair("w", "all", -0.1, 0.2, 0.4)};
  EXPECT_THAT(
      warn_of_tests(pairs, 0.05),
      ElementsAre("pairs: x - b: the interval leaves out 0, but the test does not (p > 0.05); go by the test, which is "
                  "exact",
                  "pairs: y - b (L1): p is at most 0.05, but the interval holds 0; go by the test, which is exact"));
}

TEST(RowWarnings, SpellOutFourRowsAndCountTheOthers) {
  std::vector<PairRow> pairs;
  for (const char* name : {"a1", "a2", "a3", "a4", "a5", "a6"}) pairs.push_back(pair(name, "all", 0.01, 0.2, 0.08));
  EXPECT_THAT(warn_of_tests(pairs, 0.05),
              ElementsAre(StartsWith("pairs: a1 - b; a2 - b; a3 - b; a4 - b; and 2 more: ")));
}

// The test's sums have variance sum d^2, the interval's sum (d - mean of the level)^2: levels that differ set them
// apart.
test::MadeRun levels_apart() {
  auto made =
      made_run({"m.ss.p", "m.agent.p"}, join(made_tasks("L1", 5), made_tasks("L2", 40)), 1, [](const EpisodeId& id) {
        const int i = number_of(id);
        if (id.task.starts_with("L1")) return ended(id.cell == "m.agent.p");  // all five won
        return ended(id.cell == "m.agent.p" ? i < 1 : i == 30);               // one won, one lost
      });
  made.run.grid.contrasts = {{"tools", {{"mode", "agent"}}, {{"mode", "ss"}}, {"all"}}};
  return made;
}

TEST(RowWarnings, LevelsThatDifferSetIntervalAndTestApart) {
  const test::MadeEvidence made(levels_apart());
  const Evidence& evidence = made;
  const auto& pairs = evidence.once(make_pairs);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_DOUBLE_EQ(*pairs[0].p, mcnemar_exact(6, 1));  // 0.125
  EXPECT_GT(pairs[0].interval->low, 0);
  EXPECT_THAT(row_warnings(evidence, RowCheck::pair_tests),
              ElementsAre(HasSubstr("m.agent.p - m.ss.p: the interval leaves out 0")));
}

TEST(RowWarnings, StandWithTheTableThatHoldsTheRowsAndInEveryDocument) {
  auto run = levels_apart();
  run.ledger.ignored_rows = 4;
  const test::MadeEvidence evidence(std::move(run));
  const auto of_whole = HasSubstr("4 rows of the log");
  const auto of_pair = StartsWith("pairs: m.agent.p - m.ss.p: ");
  EXPECT_THAT(warnings_of(evidence, named({"cells"})), ElementsAre(of_whole));
  EXPECT_THAT(warnings_of(evidence, named({"pairs"})), ElementsAre(of_whole, of_pair));
  const auto document = nlohmann::json::parse(test::printed(evidence, {}, Format::json));
  EXPECT_THAT(document["warnings"].get<std::vector<std::string>>(), ElementsAre(of_whole, of_pair));
  EXPECT_THAT(test::printed(evidence, {"cells"}, Format::text), Not(HasSubstr("leaves out 0")));
}

TEST(RowWarnings, AreNoneWhereNothingDisagrees) {
  const test::MadeEvidence evidence(
      made_run({"m.ss.p"}, made_tasks("L1", 60), 1, [](const EpisodeId& id) { return ended(number_of(id) % 2 == 0); }));
  for (const auto check :
       {RowCheck::narrower_than_rerun, RowCheck::small_levels, RowCheck::pair_tests, RowCheck::interaction_tests})
    EXPECT_THAT(row_warnings(evidence, check), IsEmpty());
}

}  // namespace
}  // namespace nkigrid::aggregate
