#include "aggregate/tables/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/aggregate/logged_run.hpp"
#include "tests/aggregate/made_evidence.hpp"
#include "tests/aggregate/tabulars.hpp"

namespace nkigrid::aggregate {
namespace {

using Json = nlohmann::ordered_json;
using test::ended, test::join, test::made_run, test::made_tasks, test::number_of;
using testing::ElementsAre, testing::HasSubstr;

// 29 of 150 as the paper prints it: 25/4/0 of 50 a level, one replicate.
test::MadeEvidence paper_run() {
  auto tasks = join(join(made_tasks("L1", 50), made_tasks("L2", 50)), made_tasks("L3", 50));
  return made_run({"sft.ss.rank-aware"}, tasks, 1, [](const EpisodeId& id) {
    return ended(number_of(id) < (id.task.starts_with("L1") ? 25 : id.task.starts_with("L2") ? 4 : 0));
  });
}

test::MadeEvidence waiting_run() {
  return made_run({"m.ss.p", "m.agent.p"}, made_tasks("L1", 8), 2, [](const EpisodeId& id) -> std::optional<log::End> {
    if (id.cell == "m.agent.p" && number_of(id) == 7) return std::nullopt;
    return ended(number_of(id) < 2 + static_cast<int>(id.replicate));
  });
}

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [key, value] : object.items()) names.push_back(key);
  return names;
}

TEST(Json, HasTheKeysOfTheFormatInTheirOrder) {
  const auto document = Json::parse(test::printed(waiting_run(), {}, Format::json));
  EXPECT_THAT(keys(document),
              ElementsAre("version", "run", "rule", "level", "partial", "outstanding", "cells", "pairs", "warnings"));
  const auto& cell = document["cells"][0];
  EXPECT_THAT(keys(cell), ElementsAre("cell", "model", "mode", "prompt", "subset", "tasks", "replicates", "episodes",
                                      "passed", "outstanding", "rate", "interval", "bounds", "run_to_run", "levels"));
  EXPECT_THAT(keys(cell["interval"]), ElementsAre("method", "low", "high"));
  EXPECT_THAT(keys(cell["run_to_run"]), ElementsAre("low", "high"));
  EXPECT_THAT(keys(cell["levels"]), ElementsAre("L1"));
  EXPECT_THAT(keys(cell["levels"]["L1"]),
              ElementsAre("tasks", "episodes", "passed", "outstanding", "rate", "interval", "bounds"));
}

TEST(Json, PrintsThePaperRowWithItsWilsonIntervals) {
  const auto document = Json::parse(test::printed(paper_run(), {}, Format::json));
  EXPECT_EQ(document["version"], 1);
  EXPECT_EQ(document["run"], "made");
  EXPECT_EQ(document["rule"], "paper");
  EXPECT_EQ(document["level"], 0.95);
  EXPECT_EQ(document["outstanding"], 0);
  const auto& cell = document["cells"].at(0);
  EXPECT_EQ(cell["model"], "sft");
  EXPECT_EQ(cell["mode"], "ss");
  EXPECT_EQ(cell["prompt"], "rank-aware");
  EXPECT_TRUE(cell["subset"].is_null());
  EXPECT_EQ(cell["rate"], 0.193333);
  EXPECT_EQ(cell["interval"], (Json{{"method", "wilson-eff"}, {"low", 0.145833}, {"high", 0.251745}}));
  EXPECT_TRUE(cell["bounds"].is_null());
  EXPECT_TRUE(cell["run_to_run"].is_null());
  EXPECT_EQ(cell["levels"]["L1"]["passed"], 25);
  EXPECT_EQ(cell["levels"]["L1"]["rate"], 0.5);
  EXPECT_EQ(cell["levels"]["L3"]["interval"]["low"], 0.0);
  EXPECT_NEAR(cell["levels"]["L3"]["interval"]["high"].get<double>(), 3.841459 / (50 + 3.841459), 1e-6);
}

TEST(Json, OutstandingRowsHaveNullRateAndBounds) {
  const auto document = Json::parse(test::printed(waiting_run(), {}, Format::json));
  EXPECT_EQ(document["outstanding"], 2);
  const auto& cell = document["cells"].at(1);
  EXPECT_TRUE(cell["rate"].is_null());
  EXPECT_TRUE(cell["interval"].is_null());
  EXPECT_EQ(cell["bounds"], (Json{{"low", 0.4375}, {"high", 0.5625}}));
}

TEST(Json, IsTheSameBytesEachTime) {
  EXPECT_EQ(test::printed(waiting_run(), {}, Format::json), test::printed(waiting_run(), {}, Format::json));
}

TEST(Csv, HasOneRowACellWithEmptyFieldsForNone) {
  EXPECT_EQ(test::printed(paper_run(), {"cells"}, Format::csv),
            "cell,model,mode,prompt,subset,tasks,replicates,episodes,passed,outstanding,rate,interval_method,"
            "interval_low,interval_high,bounds_low,"
            "bounds_high,run_to_run_low,run_to_run_high\n"
            "sft.ss.rank-aware,sft,ss,rank-aware,,150,1,150,29,0,0.193333,wilson-eff,0.145833,0.251745,,,,\n");
}

TEST(Text, AlignsColumnsAndNamesTheMethod) {
  EXPECT_EQ(test::printed(paper_run(), {"cells"}, Format::text),
            "made: pass rate in percent, rule paper, 95 % intervals\n"
            "cell               subset  tasks  K  passed  rate  interval\n"
            "--------------------------------------------------------------------------\n"
            "sft.ss.rank-aware  -         150  1  29/150  19.3  [14.6, 25.2] wilson-eff\n");
}

TEST(Text, LevelsShowCountsRatesAndIntervals) {
  EXPECT_EQ(
      test::printed(paper_run(), {"levels"}, Format::text),
      "made: pass rate in percent, rule paper, 95 % intervals, by level\n"
      "                   L1                                 L2                                L3\n"
      "cell               passed  rate  interval             passed  rate  interval            passed  rate  interval\n"
      "----------------------------------------------------------------------------------------------------------------"
      "-------\n"
      "sft.ss.rank-aware   25/50  50.0  [36.6, 63.4] wilson    4/50   8.0  [3.2, 18.8] wilson    0/50   0.0  [0.0, "
      "7.1] wilson\n");
}

TEST(Markdown, AHeadOverSeveralColumnsGoesBeforeEach) {
  EXPECT_THAT(test::printed(paper_run(), {"levels"}, Format::markdown),
              HasSubstr("| cell | L1 passed | L1 rate | L1 interval | L2 passed |"));
}

TEST(Text, EndsWithTheWarnings) {
  EXPECT_THAT(
      test::printed(waiting_run(), {"cells"}, Format::text),
      testing::EndsWith("\nwarning: 2 planned episodes are outstanding; bounds are printed in place of rates\n"));
}

TEST(Markdown, IsAPipeTable) {
  EXPECT_EQ(test::printed(paper_run(), {"cells"}, Format::markdown),
            "**made: pass rate in percent, rule paper, 95 % intervals**\n\n"
            "| cell | subset | tasks | K | passed | rate | interval |\n"
            "|---|---|---:|---:|---:|---:|---|\n"
            "| sft.ss.rank-aware | - | 150 | 1 | 29/150 | 19.3 | [14.6, 25.2] wilson-eff |\n");
}

TEST(Latex, IsABooktabsTable) {
  EXPECT_EQ(test::printed(paper_run(), {"cells"}, Format::latex),
            "% needs \\usepackage{booktabs,graphicx}\n\\begin{table*}\n\\centering\n"
            "\\caption{made: pass rate in percent, rule paper, 95\\,\\% intervals}\n\\label{tab:cells}\n"
            "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n"
            "\\begin{tabular}{llrrrrl}\n\\toprule\n"
            "cell & subset & tasks & K & passed & rate & interval \\\\\n\\midrule\n"
            "sft.ss.rank-aware & -- & 150 & 1 & 29/150 & 19.3 & [14.6, 25.2] wilson-eff \\\\\n"
            "\\bottomrule\n\\end{tabular}}\n\\end{table*}\n");
}

TEST(Latex, LevelsStandUnderOneHeadEach) {
  EXPECT_THAT(
      test::printed(paper_run(), {"levels"}, Format::latex),
      HasSubstr(
          "\\begin{tabular}{lrrlrrlrrl}\n\\toprule\n"
          "\\multicolumn{1}{l}{} & \\multicolumn{3}{l}{L1} & \\multicolumn{3}{l}{L2} & \\multicolumn{3}{l}{L3} \\\\\n"
          "\\cmidrule(lr){2-4}\\cmidrule(lr){5-7}\\cmidrule(lr){8-10}\n"
          "cell & passed & rate & interval & passed &"));
}

TEST(Latex, EveryRowOfEveryTableHasAsManyWordsAsColumns) {
  const auto made = made_run(
      {"m.ss.p_1", "m.agent.p_1", "n.ss.p_1", "n.agent.p_1"}, made_tasks("L1", 50), 3, [](const EpisodeId& id) {
        auto end =
            ended((number_of(id) * 7 + static_cast<int>(id.replicate)) % (id.cell.starts_with("m") ? 3 : 5) == 0);
        if (number_of(id) % 3 == 1)
          end.outcome = Outcome::compile_fail,
          end.code = static_cast<Code>(1 + number_of(id) % static_cast<int>(Code::py_exception));
        return end;
      });
  auto run = made.run;
  run.grid.contrasts = {{"tools", {{"mode", "agent"}}, {{"mode", "ss"}}, {"all", "L1"}},
                        {"model", {{"model", "n"}}, {{"model", "m"}}, {"all"}}};
  const auto evidence = evidence_of(run, made.ledger);
  for (const auto* table : test::named({"all"})) {
    const auto text = print_tables(evidence, {table}, Format::latex);
    EXPECT_GE(test::check_tabulars(text), text.starts_with("% needs") ? 2 : 0) << table->name;
  }
}

TEST(Latex, CarriesEachWarningOnce) {
  const auto text = test::printed(waiting_run(), {"cells", "levels"}, Format::latex);
  const auto first = text.find("Warning: 2 planned episodes");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("Warning: 2 planned episodes", first + 1), std::string::npos);
  EXPECT_GT(first, text.rfind("\\end{table"));
}

TEST(Json, PairsHaveTheKeysOfTheFormat) {
  auto made = made_run({"m.ss.p", "m.agent.p"}, made_tasks("L1", 30), 1,
                       [](const EpisodeId& id) { return ended(id.cell == "m.agent.p" && number_of(id) < 26); });
  made.run.grid.contrasts = {{"tools", {{"mode", "agent"}}, {{"mode", "ss"}}, {"all"}}};
  const auto pair = Json::parse(test::printed(evidence_of(made.run, made.ledger), {}, Format::json))["pairs"].at(0);
  EXPECT_THAT(keys(pair), ElementsAre("a", "b", "scope", "family", "contrast", "tasks", "outstanding", "difference",
                                      "interval", "test", "p", "p_holm", "verdict"));
  EXPECT_EQ(pair["difference"], 0.866667);
  EXPECT_EQ(pair["verdict"], "a-better");
  EXPECT_EQ(pair["p"], 1.49012e-08);  // 2^-26, not rounded to 0
}

// One cell, one replicate: nothing to compare.
test::MadeEvidence lonely_run() {
  return made_run({"m.ss.p"}, made_tasks("L1", 8), 1, [](const EpisodeId& id) { return ended(number_of(id) < 3); });
}

TEST(EmptyTables, SayWhyAndWhatToAdd) {
  const struct {
    std::string name, says;
  } rows[] = {{"ablation", "no two cells differ in one of model, mode and prompt alone; add"},
              {"pairs", "no two cells match a contrast; run a second model or mode, or list `contrasts:`"},
              {"interactions", "a 2x2 needs four cells: two values of one factor"},
              {"methods", "no model has a `method`; give the checkpoints of one method the same name"},
              {"method-pairs", "no model has a `method`"},
              {"flips", "no two cells match a contrast"},
              {"changes", "no cell is kept apart as cell@run; name two runs, such as those of `reverify`"},
              {"change-tests", "no cell is kept apart as cell@run"},
              {"transitions", "no episode is scored yet"}};
  const auto evidence = lonely_run();
  for (const auto& [name, says] : rows) {
    EXPECT_THAT(test::printed(evidence, {name}, Format::text),
                testing::StartsWith(name + ": nothing to show: " + says));
    EXPECT_THAT(test::printed(evidence, {name}, Format::latex),
                testing::StartsWith("% " + name + ": nothing to show: "));
    EXPECT_THAT(test::printed(evidence, {name}, Format::markdown),
                testing::StartsWith("**" + name + "**: nothing to show: "));
    EXPECT_THAT(why_no_rows(evidence, *test::named({name}).front()), testing::StartsWith(says));
  }
  const auto document = Json::parse(test::printed(evidence, {"methods", "method-pairs", "rules"}, Format::json));
  EXPECT_THAT(keys(document["empty"]), ElementsAre("methods", "method_pairs"));
  EXPECT_FALSE(Json::parse(test::printed(evidence, {"rules"}, Format::json)).contains("empty"));
}

TEST(EveryTable, HasEveryFormat) {
  const test::LoggedRun logged(test::usual_end);
  const auto facts = read_turn_facts(logged.run, logged.ledger);
  auto run = logged.run;
  run.grid.contrasts = {{"tools", {{"mode", "agent"}}, {{"mode", "ss"}}, {"all"}}};
  run.grid.models[0].method = "only";
  const auto evidence = evidence_of(run, logged.ledger, {.adjust = Adjust::bh}, &facts);
  for (const auto* table : test::named({"all"})) {
    for (const auto format : {Format::text, Format::markdown, Format::latex, Format::csv})
      EXPECT_FALSE(print_tables(evidence, {table}, format).empty()) << table->name;
  }
  EXPECT_THAT(test::printed(evidence, {"pairs"}, Format::text), HasSubstr("p BH"));
  EXPECT_THAT(test::printed(evidence, {"cost"}, Format::latex), HasSubstr("\\toprule"));
  EXPECT_THAT(test::printed(evidence, {"all"}, Format::json), HasSubstr("\"best_not_paper\""));
}

}  // namespace
}  // namespace nkigrid::aggregate
