#include "jobs/grid/yaml_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {
namespace {

std::string problems_of(const std::string& text) {
  Problems problems("f.yaml");
  parse_yaml(text, problems);
  return to_text(problems.sorted());
}

TEST(YamlTree, KeepsPlacesAndTextsAsWritten) {
  Problems problems("f.yaml");
  const auto tree = parse_yaml("a: 010\nb:\n  - \"1\"\n  - {c: yes}\n", problems);
  ASSERT_TRUE(tree);
  ASSERT_EQ(tree->items.size(), 2U);
  EXPECT_EQ(tree->items[0].text, "010");
  EXPECT_FALSE(tree->items[0].quoted);
  EXPECT_EQ(tree->items[0].place, (Place{1, 4}));
  EXPECT_TRUE(tree->items[1].items[0].quoted);
  EXPECT_EQ(tree->items[1].items[1].items[0].key_place, (Place{4, 6}));
  EXPECT_TRUE(problems.empty());
}

TEST(YamlTree, ReportsDuplicateKeysAtTheSecond) {
  EXPECT_EQ(problems_of("a: 1\nb: {c: 1, c: 2}\na: 3\n"),
            "f.yaml:2:11: duplicate key 'c' (first at line 2); keep one\nf.yaml:3:1: duplicate key 'a' "
            "(first at line 1); keep one");
}

TEST(YamlTree, BrokenYamlIsOneProblemWithItsPlace) {
  EXPECT_EQ(problems_of("a: 1\nb: [1, 2\nc: 3\n"), "f.yaml:2:4: broken YAML: '[' is not closed; close it with ']'");
  EXPECT_EQ(problems_of("a: \"un\\\"closed\n"),
            "f.yaml:1:4: broken YAML: a quote that its line does not close; close it with \"");
  EXPECT_THAT(problems_of("\xef\xbb\xbfä: &x 'it''s\nb: 1\n"),
              testing::StartsWith("f.yaml:1:5: broken YAML: a quote "));
  EXPECT_EQ(problems_of("a: 'it''s'\nb: \"\\\\\"\nc: !!str 'x'\nd: ''\n"), "");
  EXPECT_THAT(problems_of("\tb: 1\n"), testing::HasSubstr("broken YAML"));
  EXPECT_THAT(problems_of("a: *nobody\n"), testing::HasSubstr("f.yaml:1:4: broken YAML"));
}

TEST(YamlTree, RefusesWhatIsNoText) {
  EXPECT_EQ(problems_of("a: \xff\xfe\n"), "f.yaml:1:4: not a text file (bytes that are no UTF-8); save it as UTF-8");
  // A character that is cut: by the end of the text, or by another one; its bytes are the first ones of U+FFFD.
  for (const char* cut : {"\xef", "\xef\xbf", "\xef\xbfx", "\xef\xbf\n", "\xef\xbf\xc3\xa9"})
    EXPECT_EQ(problems_of("ä: é" + std::string(cut)),
              "f.yaml:1:5: not a text file (bytes that are no UTF-8); save it as UTF-8");
  EXPECT_EQ(problems_of(std::string("a: 1\nb: \0b\n", 11)),
            "f.yaml:2:4: not a text file (a NUL byte); take it out, or save the file as UTF-8");
}

TEST(YamlTree, ASlipIsToldWhereItWasMade) {
  EXPECT_EQ(problems_of("models:\n\tweak: {api: synthetic}\n"),
            "f.yaml:2:1: broken YAML: a tab as indentation (YAML forbids it); write spaces");
  EXPECT_EQ(problems_of("models:\n  \tweak: {api: synthetic}\n"),
            "f.yaml:2:3: broken YAML: a tab as indentation (YAML forbids it); write spaces");
  // A quote that is never closed takes all up to the next one, pages below.
  EXPECT_EQ(problems_of("name: \"x\nseed: 7\ncells:\n  - \"y\"\n"),
            "f.yaml:1:7: broken YAML: a quote that its line does not close; close it with \"");
  EXPECT_EQ(problems_of("a: {b: {c: 1}\nd: 2\n"), "f.yaml:1:4: broken YAML: '{' is not closed; close it with '}'");
  EXPECT_EQ(problems_of("a: [1, {b: 2]\nd: 2\n"), "f.yaml:1:8: broken YAML: '{' is not closed; close it with '}'");
  EXPECT_EQ(problems_of("a: {b: 1}}\n"), "f.yaml:1:10: broken YAML: '}' closes nothing that was opened; take it out");
  // None of it is a slip in what is whole.
  EXPECT_EQ(problems_of("a: |\n  \tx [\nb: \"over\n  lines {\"\nc: don't\nd: 3 # {\n"), "");
}

TEST(YamlTree, NothingStandsAtItsKey) {
  Problems problems("f.yaml");
  const auto tree = parse_yaml("a:\nb: {c: , d: }\ne: ~\n", problems);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->items[0].place, (Place{1, 1}));
  EXPECT_EQ(tree->items[1].items[0].place, (Place{2, 5}));
  EXPECT_EQ(tree->items[2].place, (Place{3, 1}));
}

TEST(YamlTree, RefusesASecondDocument) {
  EXPECT_EQ(problems_of("a: 1\n---\nb: 2\n"), "f.yaml:3:1: a second document in the file; keep one");
}

TEST(YamlTree, NestedAliasesCannotFillMemory) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const auto before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) text += (j == 0 ? "" : ", ") + before;
    text += "]\n";
  }
  EXPECT_THAT(problems_of(text), testing::HasSubstr("the document is too large"));
}

TEST(YamlTree, DeepNestingIsAProblemAndNoCrash) {
  EXPECT_THAT(problems_of(std::string(100'000, '[')), testing::HasSubstr("broken YAML"));
}

TEST(YamlTree, AnEmptyFileIsNothing) {
  Problems problems("f.yaml");
  const auto tree = parse_yaml("# only a comment\n", problems);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->kind, YamlNode::Kind::null);
}

TEST(YamlReader, IntegersAreDecimalAndPlain) {
  const auto read = [](const std::string& text) {
    Problems problems("f.yaml");
    const auto tree = parse_yaml("n: " + text + "\n", problems);
    const auto value = read_integer(tree->items[0], "n", 1, 100, problems);
    return value ? std::to_string(*value) : problems.sorted().at(0).message;
  };
  EXPECT_EQ(read("7"), "7");
  EXPECT_EQ(read("010"), "n is '010' (a leading zero reads as octal; write it without)");
  EXPECT_EQ(read("\"7\""), "n is the text '7' (a whole number from 1 to 100 is wanted)");
  for (const auto* bad :
       {"0x10", "1_000", "7.0", "1e1", "-3", "+3", "0", "101", "99999999999999999999999", "seven", "[7]", "~"}) {
    EXPECT_THAT(read(bad), testing::EndsWith("(a whole number from 1 to 100 is wanted)")) << bad;
  }
}

TEST(YamlReader, FlagsAreTrueOrFalse) {
  Problems problems("f.yaml");
  const auto tree = parse_yaml("a: true\nb: yes\nc: True\nd: \"true\"\n", problems);
  EXPECT_EQ(read_flag(tree->items[0], "a", problems), true);
  for (int i = 1; i < 4; ++i) EXPECT_FALSE(read_flag(tree->items[i], "x", problems));
  EXPECT_EQ(problems.sorted().at(0).message, "x is 'yes' (true or false is wanted)");
}

TEST(YamlReader, NumbersAreFinite) {
  Problems problems("f.yaml");
  const auto tree = parse_yaml("[1.0e-3, .inf, nan, inf, 1e999, 0x1p3, -1]\n", problems);
  EXPECT_EQ(read_number(tree->items[0], "x", 0, 1, problems), 1e-3);
  for (std::size_t i = 1; i < tree->items.size(); ++i)
    EXPECT_FALSE(read_number(tree->items[i], "x", 0, 1, problems)) << i;
}

}  // namespace
}  // namespace nkigrid::jobs
