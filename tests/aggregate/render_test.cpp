#include "aggregate/render.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "aggregate/sheet.hpp"
#include "jobs/base/error.hpp"
#include "tests/aggregate/made_run.hpp"

namespace nkigrid::aggregate {
namespace {

using Json = nlohmann::ordered_json;
using test::ended, test::join, test::made_run, test::made_tasks, test::number_of;
using testing::ElementsAre, testing::HasSubstr;

// 29 of 150 as the paper prints it: 25/4/0 of 50 a level, one replicate.
Tables paper_tables() {
  auto tasks = join(join(made_tasks("L1", 50), made_tasks("L2", 50)), made_tasks("L3", 50));
  const auto made = made_run({"sft.ss.rank-aware"}, tasks, 1, [](const EpisodeId& id) {
    return ended(number_of(id) < (id.task.starts_with("L1") ? 25 : id.task.starts_with("L2") ? 4 : 0));
  });
  return make_tables(made.run, made.ledger);
}

Tables waiting_tables() {
  const auto made = made_run({"m.ss.p", "m.agent.p"}, made_tasks("L1", 8), 2,
                             [](const EpisodeId& id) -> std::optional<log::End> {
                               if (id.cell == "m.agent.p" && number_of(id) == 7) return std::nullopt;
                               return ended(number_of(id) < 2 + static_cast<int>(id.replicate));
                             });
  return make_tables(made.run, made.ledger);
}

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [key, value] : object.items()) names.push_back(key);
  return names;
}

TEST(Json, HasTheKeysOfTheFormatInTheirOrder) {
  const auto document = Json::parse(render(waiting_tables(), {}, Format::json));
  EXPECT_THAT(keys(document), ElementsAre("version", "run", "rule", "level", "partial", "outstanding",
                                          "cells", "pairs", "warnings"));
  const auto& cell = document["cells"][0];
  EXPECT_THAT(keys(cell),
              ElementsAre("cell", "model", "mode", "prompt", "subset", "tasks", "replicates", "episodes",
                          "passed", "outstanding", "rate", "interval", "bounds", "run_to_run", "levels"));
  EXPECT_THAT(keys(cell["interval"]), ElementsAre("method", "low", "high"));
  EXPECT_THAT(keys(cell["run_to_run"]), ElementsAre("low", "high"));
  EXPECT_THAT(keys(cell["levels"]), ElementsAre("L1"));
  EXPECT_THAT(keys(cell["levels"]["L1"]),
              ElementsAre("tasks", "episodes", "passed", "outstanding", "rate", "interval", "bounds"));
}

TEST(Json, PrintsThePaperRowWithItsWilsonIntervals) {
  const auto document = Json::parse(render(paper_tables(), {}, Format::json));
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
  EXPECT_EQ(cell["interval"], (Json{{"method", "wilson"}, {"low", 0.138119}, {"high", 0.263863}}));
  EXPECT_TRUE(cell["bounds"].is_null());
  EXPECT_TRUE(cell["run_to_run"].is_null());
  EXPECT_EQ(cell["levels"]["L1"]["passed"], 25);
  EXPECT_EQ(cell["levels"]["L1"]["rate"], 0.5);
  EXPECT_EQ(cell["levels"]["L3"]["interval"]["low"], 0.0);
  EXPECT_NEAR(cell["levels"]["L3"]["interval"]["high"].get<double>(), 3.841459 / (50 + 3.841459), 1e-6);
}

TEST(Json, OutstandingRowsHaveNullRateAndBounds) {
  const auto document = Json::parse(render(waiting_tables(), {}, Format::json));
  EXPECT_EQ(document["outstanding"], 2);
  const auto& cell = document["cells"].at(1);
  EXPECT_TRUE(cell["rate"].is_null());
  EXPECT_TRUE(cell["interval"].is_null());
  EXPECT_EQ(cell["bounds"], (Json{{"low", 0.4375}, {"high", 0.5625}}));
}

TEST(Json, IsTheSameBytesEachTime) {
  EXPECT_EQ(render(waiting_tables(), {}, Format::json), render(waiting_tables(), {}, Format::json));
}

TEST(Csv, HasOneRowACellWithEmptyFieldsForNone) {
  EXPECT_EQ(render(paper_tables(), {TableName::cells}, Format::csv),
            "cell,model,mode,prompt,subset,tasks,replicates,episodes,passed,outstanding,rate,interval_method,"
            "interval_low,interval_high,bounds_low,"
            "bounds_high,run_to_run_low,run_to_run_high\n"
            "sft.ss.rank-aware,sft,ss,rank-aware,,150,1,150,29,0,0.193333,wilson,0.138119,0.263863,,,,\n");
}

TEST(Csv, RefusesSeveralTablesInOneFile) {
  try {
    render(paper_tables(), parse_table_name("all"), Format::csv);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("csv holds one table at a time"));
  }
}

TEST(Csv, QuotesFieldsThatNeedIt) {
  const Sheet sheet{"s", "", {{"a"}, {"b"}}, {{"x,y", "say \"z\""}}, {}};
  EXPECT_EQ(sheet_as_csv(sheet), "a,b\n\"x,y\",\"say \"\"z\"\"\"\n");
}

TEST(Text, AlignsColumnsAndNamesTheMethod) {
  EXPECT_EQ(render(paper_tables(), {TableName::cells}, Format::text),
            "made: pass rate in percent, rule paper, 95 % intervals\n"
            "cell               subset  tasks  K  passed  rate  interval\n"
            "----------------------------------------------------------------------\n"
            "sft.ss.rank-aware  -         150  1  29/150  19.3  [13.8, 26.4] wilson\n");
}

TEST(Text, LevelsShowCountsRatesAndIntervals) {
  EXPECT_EQ(render(paper_tables(), {TableName::levels}, Format::text),
            "made: pass rate in percent, rule paper, 95 % intervals, by level\n"
            "cell               L1                                 L2                               L3\n"
            "------------------------------------------------------------------------------------------------"
            "---------------------\n"
            "sft.ss.rank-aware  25/50   50.0  [36.6, 63.4] wilson  4/50    8.0  [3.2, 18.8] wilson  0/50    "
            "0.0  [0.0, 7.1] wilson\n");
}

TEST(Text, EndsWithTheWarnings) {
  EXPECT_THAT(render(waiting_tables(), {TableName::cells}, Format::text),
              testing::EndsWith(
                  "\nwarning: 2 planned episodes are outstanding; bounds are printed in place of rates\n"));
}

TEST(Markdown, IsAPipeTableWithEscapedWords) {
  EXPECT_EQ(render(paper_tables(), {TableName::cells}, Format::markdown),
            "**made: pass rate in percent, rule paper, 95 % intervals**\n\n"
            "| cell | subset | tasks | K | passed | rate | interval |\n"
            "|---|---|---:|---:|---:|---:|---|\n"
            "| sft.ss.rank-aware | - | 150 | 1 | 29/150 | 19.3 | [13.8, 26.4] wilson |\n");
  const Sheet sheet{"s", "", {{"a|b"}}, {{"x_y <z>"}}, {}};
  EXPECT_EQ(sheet_as_markdown(sheet), "| a\\|b |\n|---|\n| x\\_y \\<z> |\n");
}

TEST(Latex, IsABooktabsTableWithEscapedWords) {
  EXPECT_EQ(render(paper_tables(), {TableName::cells}, Format::latex),
            "% needs \\usepackage{booktabs}\n\\begin{table}\n\\centering\n"
            "\\caption{made: pass rate in percent, rule paper, 95 \\% intervals}\n\\label{tab:cells}\n"
            "\\begin{tabular}{llrrrrl}\n\\toprule\n"
            "cell & subset & tasks & K & passed & rate & interval \\\\\n\\midrule\n"
            "sft.ss.rank-aware & - & 150 & 1 & 29/150 & 19.3 & [13.8, 26.4] wilson \\\\\n"
            "\\bottomrule\n\\end{tabular}\n\\end{table}\n");
  const Sheet sheet{"s", "", {{"a"}, {"b"}}, {{"[1, 2]", "50% of a_b & {c} \\ ~ ^ #1 $2"}}, {}};
  EXPECT_THAT(sheet_as_latex(sheet), HasSubstr("{}[1, 2] & 50\\% of a\\_b \\& \\{c\\} \\textbackslash{} "
                                               "\\textasciitilde{} \\textasciicircum{} \\#1 \\$2 \\\\"));
}

TEST(Latex, CarriesTheWarningsUnderEachTable) {
  const auto text = render(waiting_tables(), {TableName::cells, TableName::levels}, Format::latex);
  const auto first = text.find("Warning: 2 planned episodes");
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(text.find("Warning: 2 planned episodes", first + 1), std::string::npos);
}

TEST(Json, PairsHaveTheKeysOfTheFormat) {
  auto made = made_run({"m.ss.p", "m.agent.p"}, made_tasks("L1", 30), 1, [](const EpisodeId& id) {
    return ended(id.cell == "m.agent.p" && number_of(id) < 26);
  });
  made.run.grid.contrasts = {{"tools", {{"mode", "agent"}}, {{"mode", "ss"}}, {"all"}}};
  const auto pair = Json::parse(render(make_tables(made.run, made.ledger), {}, Format::json))["pairs"].at(0);
  EXPECT_THAT(keys(pair), ElementsAre("a", "b", "scope", "family", "contrast", "tasks", "outstanding",
                                      "difference", "interval", "test", "p", "p_holm", "verdict"));
  EXPECT_EQ(pair["difference"], 0.866667);
  EXPECT_EQ(pair["verdict"], "a-better");
  EXPECT_EQ(pair["p"], 2.98023e-08);  // 2^-25, not rounded to 0
}

TEST(Names, UnknownTablesAndFormatsAreRefusedWithTheListOfThoseThatExist) {
  try {
    parse_table_name("cell");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'cells'?"));
  }
  EXPECT_THROW(parse_format("html"), Error);
}

}  // namespace
}  // namespace nkigrid::aggregate
