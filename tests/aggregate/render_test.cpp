#include "aggregate/layout/render.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "aggregate/layout/sheet.hpp"
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
  const auto made =
      made_run({"m.ss.p", "m.agent.p"}, made_tasks("L1", 8), 2, [](const EpisodeId& id) -> std::optional<log::End> {
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
  EXPECT_EQ(
      render(paper_tables(), {TableName::levels}, Format::text),
      "made: pass rate in percent, rule paper, 95 % intervals, by level\n"
      "                   L1                                 L2                                L3\n"
      "cell               passed  rate  interval             passed  rate  interval            passed  rate  interval\n"
      "----------------------------------------------------------------------------------------------------------------"
      "-------\n"
      "sft.ss.rank-aware   25/50  50.0  [36.6, 63.4] wilson    4/50   8.0  [3.2, 18.8] wilson    0/50   0.0  [0.0, "
      "7.1] wilson\n");
}

TEST(Text, AHeadOverSeveralColumnsStandsOverTheFirstAndWidensTheLast) {
  const Sheet sheet{
      "s",
      "",
      {{"a"}, {"b", Align::right, Kind::word, "a long head"}, {"c", Align::right, Kind::word, "a long head"}, {"d"}},
      {{"1", "2", "3", "4"}},
      {}};
  EXPECT_EQ(sheet_as_text(sheet),
            "   a long head\n"
            "a  b         c  d\n"
            "-----------------\n"
            "1  2         3  4\n");
}

TEST(Markdown, AHeadOverSeveralColumnsGoesBeforeEach) {
  EXPECT_THAT(render(paper_tables(), {TableName::levels}, Format::markdown),
              HasSubstr("| cell | L1 passed | L1 rate | L1 interval | L2 passed |"));
}

TEST(Text, EndsWithTheWarnings) {
  EXPECT_THAT(
      render(waiting_tables(), {TableName::cells}, Format::text),
      testing::EndsWith("\nwarning: 2 planned episodes are outstanding; bounds are printed in place of rates\n"));
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
            "% needs \\usepackage{booktabs,graphicx}\n\\begin{table*}\n\\centering\n"
            "\\caption{made: pass rate in percent, rule paper, 95 \\% intervals}\n\\label{tab:cells}\n"
            "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n"
            "\\begin{tabular}{llrrrrl}\n\\toprule\n"
            "cell & subset & tasks & K & passed & rate & interval \\\\\n\\midrule\n"
            "sft.ss.rank-aware & -- & 150 & 1 & 29/150 & 19.3 & [13.8, 26.4] wilson \\\\\n"
            "\\bottomrule\n\\end{tabular}}\n\\end{table*}\n");
  const Sheet sheet{"s", "", {{"a"}, {"b"}}, {{"[1, 2]", "50% of a_b & {c} \\ ~ ^ #1 $2"}}, {}};
  EXPECT_THAT(sheet_as_latex(sheet), HasSubstr("{}[1, 2] & 50\\% of a\\_b \\& \\{c\\} \\textbackslash{} "
                                               "\\textasciitilde{} \\textasciicircum{} \\#1 \\$2 \\\\"));
}

TEST(Latex, MinusSignsAreNoHyphens) {
  const Sheet sheet{"s", "", {{"a"}}, {{"-3.3"}, {"[-12.2, -5.6] bca"}, {"rank-2"}}, {}};
  const auto text = sheet_as_latex(sheet);
  for (const auto* line : {"$-$3.3 \\\\", "[$-$12.2, $-$5.6] bca \\\\", "rank-2 \\\\"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(Latex, LevelsStandUnderOneHeadEach) {
  EXPECT_THAT(
      render(paper_tables(), {TableName::levels}, Format::latex),
      HasSubstr(
          "\\begin{tabular}{lrrlrrlrrl}\n\\toprule\n"
          "\\multicolumn{1}{l}{} & \\multicolumn{3}{l}{L1} & \\multicolumn{3}{l}{L2} & \\multicolumn{3}{l}{L3} \\\\\n"
          "\\cmidrule(lr){2-4}\\cmidrule(lr){5-7}\\cmidrule(lr){8-10}\n"
          "cell & passed & rate & interval & passed &"));
}

// The columns that a row of a tabular fills: words between unescaped ampersands, with those that span several.
int columns_of(const std::string& line) {
  int columns = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && (line[i] != '&' || (i > 0 && line[i - 1] == '\\'))) continue;
    const auto word = line.substr(begin, i - begin);
    const auto span = word.find("\\multicolumn{");
    columns += span == std::string::npos ? 1 : std::stoi(word.substr(span + 13));
    begin = i + 1;
  }
  return columns;
}

// Holds every row of every tabular against its column letters. @returns the rows seen
int check_tabulars(const std::string& text) {
  std::istringstream lines(text);
  int wanted = 0, rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("\\begin{tabular}{")) {
      wanted = static_cast<int>(line.size() - std::string("\\begin{tabular}{}").size());
    } else if (line.starts_with("\\end{tabular}")) {
      wanted = 0;
    } else if (wanted > 0 && line.ends_with("\\\\")) {
      EXPECT_EQ(columns_of(line), wanted) << line;
      ++rows;
    }
  }
  return rows;
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
  const auto tables = make_tables(run, made.ledger);
  for (const auto name : parse_table_name("all")) {
    const auto text = render(tables, {name}, Format::latex);
    EXPECT_GE(check_tabulars(text), text.starts_with("% needs") ? 2 : 0) << to_string(name);
  }
}

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(Latex, WhatNoPageHoldsIsSplitIntoNumberedFloats) {
  Sheet wide{"w", "c", {{"cell"}}, {{"one"}, {"two"}}, {"a note"}};
  for (int i = 0; i < 30; ++i) {
    wide.columns.push_back({"a_longer_head", Align::right});
    for (auto& row : wide.rows) row.push_back(std::to_string(i));
  }
  const auto text = sheet_as_latex(wide);
  EXPECT_EQ(count_of(text, "\\begin{table*}"), 5u);  // seven columns of 15 characters are 105, and the cell
  EXPECT_EQ(count_of(text, "\ntwo & "), 5u);
  EXPECT_EQ(count_of(text, "a note"), 5u);
  for (const auto* words : {"c (1 of 5)", "c (5 of 5)", "\\label{tab:w}", "\\label{tab:w-5}"})
    EXPECT_EQ(count_of(text, words), 1u) << words;
  check_tabulars(text);
  const Sheet tall{"t", "c", {{"n"}}, std::vector<std::vector<std::string>>(100, {"1"}), {}};  // 38 rows a float
  EXPECT_EQ(count_of(sheet_as_latex(tall), "\\end{table}"), 3u);
}

TEST(Latex, CarriesTheWarningsUnderEachTable) {
  const auto text = render(waiting_tables(), {TableName::cells, TableName::levels}, Format::latex);
  const auto first = text.find("Warning: 2 planned episodes");
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(text.find("Warning: 2 planned episodes", first + 1), std::string::npos);
}

TEST(Json, PairsHaveTheKeysOfTheFormat) {
  auto made = made_run({"m.ss.p", "m.agent.p"}, made_tasks("L1", 30), 1,
                       [](const EpisodeId& id) { return ended(id.cell == "m.agent.p" && number_of(id) < 26); });
  made.run.grid.contrasts = {{"tools", {{"mode", "agent"}}, {{"mode", "ss"}}, {"all"}}};
  const auto pair = Json::parse(render(make_tables(made.run, made.ledger), {}, Format::json))["pairs"].at(0);
  EXPECT_THAT(keys(pair), ElementsAre("a", "b", "scope", "family", "contrast", "tasks", "outstanding", "difference",
                                      "interval", "test", "p", "p_holm", "verdict"));
  EXPECT_EQ(pair["difference"], 0.866667);
  EXPECT_EQ(pair["verdict"], "a-better");
  EXPECT_EQ(pair["p"], 2.98023e-08);  // 2^-25, not rounded to 0
}

// One cell, one replicate: nothing to compare.
Tables lonely_tables() {
  const auto made =
      made_run({"m.ss.p"}, made_tasks("L1", 8), 1, [](const EpisodeId& id) { return ended(number_of(id) < 3); });
  return make_tables(made.run, made.ledger);
}

TEST(EmptyTables, SayWhyAndWhatToAdd) {
  const struct {
    TableName name;
    const char* says;
  } rows[] = {{TableName::ablation, "no two cells differ in one of model, mode and prompt alone; add"},
              {TableName::pairs, "no two cells match a contrast; run a second model or mode, or list `contrasts:`"},
              {TableName::interactions, "a 2x2 needs four cells: two values of one factor"},
              {TableName::methods, "no model has a `method`; give the checkpoints of one method the same name"},
              {TableName::method_pairs, "no model has a `method`"},
              {TableName::flips, "no two cells match a contrast"},
              {TableName::transitions, "no episode is scored yet"}};
  const auto tables = lonely_tables();
  for (const auto& row : rows) {
    const std::string name(to_string(row.name));
    EXPECT_THAT(render(tables, {row.name}, Format::text), testing::StartsWith(name + ": nothing to show: " + row.says));
    EXPECT_THAT(render(tables, {row.name}, Format::latex), testing::StartsWith("% " + name + ": nothing to show: "));
    EXPECT_THAT(render(tables, {row.name}, Format::markdown),
                testing::StartsWith("**" + name + "**: nothing to show: "));
    EXPECT_THAT(why_no_rows(tables, row.name), testing::StartsWith(row.says));
  }
  const auto document =
      Json::parse(render(tables, {TableName::methods, TableName::method_pairs, TableName::rules}, Format::json));
  EXPECT_THAT(keys(document["empty"]), ElementsAre("methods", "method_pairs"));
  EXPECT_FALSE(Json::parse(render(tables, {TableName::rules}, Format::json)).contains("empty"));
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
