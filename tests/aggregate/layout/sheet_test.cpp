#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aggregate/layout/numbers.hpp"
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

// A cell and thirty columns of 15 characters: seven of them and the cell are a tabular.
Sheet wide_sheet(std::size_t rows) {
  Sheet wide{"w", "c", {{"cell"}}, {}, {"a note"}};
  for (std::size_t r = 0; r < rows; ++r) wide.rows.push_back({"row" + std::to_string(r)});
  for (int i = 0; i < 30; ++i) {
    wide.columns.push_back({"a_longer_head", Align::right});
    for (auto& row : wide.rows) row.push_back(std::to_string(i));
  }
  return wide;
}

TEST(Latex, WhatNoLineHoldsStandsInTabularsOfOneFloatWhileThePageHoldsThem) {
  const auto text = sheet_as_latex(wide_sheet(2));
  EXPECT_EQ(count_of(text, "\\begin{table*}"), 1u);
  EXPECT_EQ(count_of(text, "\\begin{tabular}"), 5u);
  EXPECT_EQ(count_of(text, "\nrow1 & "), 5u);
  EXPECT_EQ(count_of(text, "a note"), 1u);
  test::check_tabulars(text);
}

TEST(Latex, WhatNoPageHoldsIsSplitIntoNumberedFloats) {
  const auto text = sheet_as_latex(wide_sheet(20));  // two tabulars a page
  EXPECT_EQ(count_of(text, "\\begin{table*}"), 5u);
  for (const auto* words : {"c (1 of 5)", "c (5 of 5)", "\\label{tab:w}", "\\label{tab:w-5}"})
    EXPECT_EQ(count_of(text, words), 1u) << words;
  test::check_tabulars(text);
  const Sheet tall{"t", "c", {{"n"}}, std::vector<std::vector<std::string>>(100, {"1"}), {}};  // 38 rows a float
  EXPECT_EQ(count_of(sheet_as_latex(tall), "\\end{table}"), 3u);
}

TEST(Latex, AValueAndItsIntervalStayTogether) {
  Sheet sheet{"s", "c", {{"cell"}}, {{"one"}}, {}};
  for (int i = 0; i < 12; ++i) {
    sheet.columns.push_back({"value" + std::to_string(i), Align::right});
    sheet.columns.push_back({"interval of it"});
    sheet.rows[0].insert(sheet.rows[0].end(), {"1.0", "[0.5, 1.5] wilson"});
  }
  const auto text = sheet_as_latex(sheet);
  EXPECT_GT(count_of(text, "\\begin{tabular}"), 1u);
  EXPECT_EQ(count_of(text, "cell & interval"), 0u);
  EXPECT_EQ(count_of(text, " & interval of it"), 12u);
}

TEST(Latex, APercentSignStaysWithItsNumber) {
  EXPECT_EQ(latex_escaped("rule paper, 95 % intervals of a %"), "rule paper, 95\\,\\% intervals of a \\%");
}

TEST(Text, ANarrowTerminalGetsSeveralLinesARow) {
  const Sheet sheet{"s",
                    "a caption of many words",
                    {{"cell"}, {"rate", Align::right}, {"interval"}, {"passed", Align::right, Kind::word, "L1"}},
                    {{"model.mode", "19.3", "[13.8, 26.4] wilson", "29/150"}},
                    {"a note"}};
  EXPECT_EQ(sheet_as_text(sheet, 40),
            "a caption of many words\n"
            "cell        rate  interval\n"
            "  passed\n"
            "----------------------------------------\n"
            "model.mode  19.3  [13.8, 26.4] wilson\n"
            "  29/150\n"
            "passed: L1\n"
            "a note\n");
  EXPECT_EQ(sheet_as_text(sheet, 80), sheet_as_text(sheet));
  for (const std::size_t columns : {80u, 100u}) {
    const auto text = sheet_as_text(wide_sheet(3), columns);
    for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1)
      EXPECT_LE(text.find('\n', begin) - begin, columns);
  }
}

TEST(Numbers, WhatRoundsToZeroHasNoSign) {
  EXPECT_EQ(bracket(-0.812, -0.0004), "[-81.2, 0.0]");
  EXPECT_EQ(points(-0.0004), "0.0");
  EXPECT_EQ(points(0.0), "0.0");
  EXPECT_EQ(points(-0.0006), "-0.1");
  EXPECT_EQ(percent(0.1), "10.0");
}

}  // namespace
}  // namespace nkigrid::aggregate
