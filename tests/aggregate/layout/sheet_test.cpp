#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aggregate/layout/sheet.hpp"
#include "tests/aggregate/tabulars.hpp"

namespace nkigrid::aggregate {
namespace {

using testing::HasSubstr;

TEST(Csv, QuotesFieldsThatNeedIt) {
  const Sheet sheet{"s", "", {{"a"}, {"b"}}, {{"x,y", "say \"z\""}}, {}};
  EXPECT_EQ(sheet_as_csv(sheet), "a,b\n\"x,y\",\"say \"\"z\"\"\"\n");
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

TEST(Markdown, EscapesWords) {
  const Sheet sheet{"s", "", {{"a|b"}}, {{"x_y <z>"}}, {}};
  EXPECT_EQ(sheet_as_markdown(sheet), "| a\\|b |\n|---|\n| x\\_y \\<z> |\n");
}

TEST(Latex, EscapesWords) {
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
  test::check_tabulars(text);
  const Sheet tall{"t", "c", {{"n"}}, std::vector<std::vector<std::string>>(100, {"1"}), {}};  // 38 rows a float
  EXPECT_EQ(count_of(sheet_as_latex(tall), "\\end{table}"), 3u);
}

}  // namespace
}  // namespace nkigrid::aggregate
