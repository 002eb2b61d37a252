#include "jobs/base/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/base/json_depth.hpp"
#include "jobs/base/own_line.hpp"
#include "jobs/base/wrapped.hpp"

#include "jobs/base/csv.hpp"

namespace nkigrid {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Text, NearestKnowsTheFourSlips) {
  const std::vector<std::string> words = {"temperature", "replicates", "tasks", "seed"};
  EXPECT_THAT(nearest("temprature", words), ElementsAre("temperature"));
  EXPECT_THAT(nearest("taskss", words), ElementsAre("tasks"));
  EXPECT_THAT(nearest("sede", words), ElementsAre("seed"));
  EXPECT_THAT(nearest("deplicates", words), ElementsAre("replicates"));
  EXPECT_THAT(nearest("budget", words), IsEmpty());
  EXPECT_THAT(nearest("", words), IsEmpty());
}

TEST(Text, NearestGivesBestFirst) {
  const std::vector<std::string> words = {"abcdez", "abcdef", "abcxyz"};
  EXPECT_THAT(nearest("abcdef", words, 3), ElementsAre("abcdef", "abcdez"));
  EXPECT_EQ(did_you_mean("abcdeg", words), " (did you mean 'abcdez'?)");
  EXPECT_EQ(did_you_mean("zzzzzz", words), "");
}

TEST(Text, Utf8KeepsWhatIsWellFormed) {
  for (const auto* good :
       {"", "abc", "größe", "€", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(to_valid_utf8(good), good);
  EXPECT_EQ(to_valid_utf8(std::string("a\0b", 3)), std::string("a\0b", 3));
}

TEST(Text, Utf8ReplacesEveryStrayByte) {
  const std::string r = "\xef\xbf\xbd";
  EXPECT_EQ(to_valid_utf8("a\xff"
                          "b"),
            "a" + r + "b");
  EXPECT_EQ(to_valid_utf8("\xc3"), r);  // cut in mid sequence
  EXPECT_EQ(to_valid_utf8("\xe2\x82"), r + r);
  EXPECT_EQ(to_valid_utf8("\xc0\xaf"), r + r);          // overlong '/'
  EXPECT_EQ(to_valid_utf8("\xe0\x9f\xbf"), r + r + r);  // overlong, three bytes
  EXPECT_EQ(to_valid_utf8("\xf0\x8f\xbf\xbf"), r + r + r + r);
  EXPECT_EQ(to_valid_utf8("\xed\xa0\x80"), r + r + r);          // half of a surrogate pair
  EXPECT_EQ(to_valid_utf8("\xf4\x90\x80\x80"), r + r + r + r);  // over U+10FFFF
  EXPECT_EQ(to_valid_utf8("\xc3(x"), r + "(x");
}

TEST(Text, ElisionKeepsHeadAndTailAndSaysHowMuchIsGone) {
  EXPECT_EQ(elide_middle("short", 64), "short");
  const std::string text = std::string(500, 'h') + std::string(500, 't');
  const auto cut = elide_middle(text, 100);
  EXPECT_LE(cut.size(), 100U);
  EXPECT_THAT(cut, testing::MatchesRegex("h+\n\\.\\.\\. \\[[0-9]+ bytes left out\\] \\.\\.\\.\nt+"));
  const auto kept =
      static_cast<std::size_t>(std::count(cut.begin(), cut.end(), 'h') + std::count(cut.begin(), cut.end(), 't')) -
      3;  // "bytes left out" has three t
  EXPECT_THAT(cut, testing::HasSubstr("[" + std::to_string(1000 - kept) + " bytes left out]"));
}

TEST(Text, ElisionNeverSplitsACharacter) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "€";
  for (std::size_t size = 64; size < 90; ++size) {
    const auto cut = elide_middle(text, size);
    EXPECT_LE(cut.size(), size);
    EXPECT_EQ(to_valid_utf8(cut), cut) << size;
  }
}

TEST(Text, ControlBytesAreShownNotObeyed) {
  EXPECT_EQ(printable(std::string_view("a\x1b[2J\0\x7f\n\tb", 9)), "a\\x1b[2J\\x00\\x7f\n\t");
}

TEST(Text, WhatTurnsOrHidesTextIsShownToo) {
  EXPECT_EQ(printable("a\u202ecod.exe\u200b\u2066x\ufeff"), "a\\u{202e}cod.exe\\u{200b}\\u{2066}x\\u{feff}");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J\xc2\x85"),
            "\\u{9b}2J\\u{85}");
  EXPECT_EQ(printable("\U000e0041"), "\\u{e0041}");
  EXPECT_EQ(printable("d\u00e9j\u00e0 \u6f22 \U0001f600"), "d\u00e9j\u00e0 \u6f22 \U0001f600");
}

TEST(Csv, FieldsAreQuotedWhereTheFormatAsks) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,\"b\"\n"), "\"a,\"\"b\"\"\n\"");
}

TEST(Csv, NoTextBecomesAFormulaAndNoNumberIsTouched) {
  EXPECT_EQ(csv_field("=1+1"), "'=1+1");
  EXPECT_EQ(csv_field("@nki.jit"), "'@nki.jit");
  EXPECT_EQ(csv_field("-cmd|' /C calc'!A0"), "'-cmd|' /C calc'!A0");
  EXPECT_EQ(csv_field("+SUM(A1,A2)"), "\"'+SUM(A1,A2)\"");
  for (const char* number : {"-1", "+3.1", "-0.25", "1e-9", "-", "-inf"}) EXPECT_EQ(csv_field(number), number);
}

TEST(Text, TerminalCodesGoAndOverwrittenLinesStay) {
  EXPECT_EQ(strip_terminal_codes("\x1b[1;31merror\x1b[0m: x"), "error: x");
  EXPECT_EQ(strip_terminal_codes("10%\r20%\r\ndone\r\n"), "10%\n20%\ndone\n");
  EXPECT_EQ(strip_terminal_codes("a\x1b[2K"), "a");
  EXPECT_EQ(strip_terminal_codes("a\x1b["), "a");
}

TEST(Text, WrapsAtSpacesByCharacters) {
  EXPECT_EQ(wrapped("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrapped("one two three", 9, 2, 4), "one\n  two\n  three");
  EXPECT_EQ(wrapped("gr\xc3\xb6\xc3\x9f"
                    "e \xe2\x82\xac",
                    7),
            "gr\xc3\xb6\xc3\x9f"
            "e \xe2\x82\xac");
  EXPECT_EQ(wrapped("a-word-that-is-wider than", 8), "a-word-that-is-wider\nthan");
  EXPECT_EQ(wrapped("kept\nlines  and spaces", 40), "kept\nlines  and spaces");
  EXPECT_EQ(wrapped("no terminal: whole", 0), "no terminal: whole");
  EXPECT_EQ(wrapped("", 10), "");
}

TEST(Text, OfAServerIsOneLine) {
  EXPECT_EQ(one_line("<html>\r\n  <b>502</b>\n\n</html>\n"), "<html> <b>502</b> </html>");
  EXPECT_EQ(one_line(" \n"), "");
}

TEST(Text, OfAnotherLengthIsNoSlipOfTheHand) {
  EXPECT_EQ(did_you_mean("novic", std::vector<std::string>{"novice", std::string(20'000'000, 'n')}),
            " (did you mean 'novice'?)");
  EXPECT_EQ(did_you_mean(std::string(300'000, 'n'), std::vector<std::string>{std::string(300'001, 'n')}), "");
}

TEST(JsonDepth, EndsWhereBracketsStandTooDeep) {
  const std::string deepest = std::string(256, '[') + "\"]]{{\\\"\"" + std::string(256, ']');
  EXPECT_EQ(shallow_part(deepest), deepest);
  EXPECT_EQ(shallow_part(std::string(1'000'000, '[')), std::string(256, '['));
  std::string flat = "[";
  for (int i = 0; i < 1000; ++i) flat += "{\"a\":[]},";
  EXPECT_EQ(shallow_part(flat), flat);
}

TEST(OwnLine, IsOursAmongALaunchersElseTheFirst) {
  EXPECT_EQ(own_line("-----\nnkigrid: no room; wait\nmpirun noticed\n"), "no room; wait");
  EXPECT_EQ(own_line("nkigrid: first"), "first");
  EXPECT_EQ(own_line("not really\nmore"), "not really");
  EXPECT_EQ(own_line(""), "");
}

}  // namespace
}  // namespace nkigrid
