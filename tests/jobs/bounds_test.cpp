// A grid may be a stranger's: anchors and aliases do not multiply it.
#include <gmock/gmock.h>

#include <string>

#include <fmt/format.h>

#include "jobs/grid/yaml_reader.hpp"
#include "jobs/grid/yaml_tree.hpp"
#include "tests/cpu_time.hpp"

namespace nkigrid::jobs {
namespace {

TEST(Bounds, NestedAnchorsCountForEachCopyThatIsKept) {
  std::string open, values;
  for (int n = 0; n < 200; ++n) open += fmt::format("&a{} [", n);
  for (int n = 0; n < 20'000; ++n) values += "x, ";
  Problems problems("grid.yaml");
  EXPECT_LT(test::cpu_seconds_of([&] { parse_yaml(open + values + std::string(200, ']'), problems); }), 20);
  EXPECT_THAT(to_text(problems.sorted()), testing::HasSubstr("the document is too large"));
}

TEST(Bounds, AliasesOfAliasesCountForWhatTheyCopy) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int n = 1; n < 12; ++n) {
    text += fmt::format("a{}: &a{} [", n, n);
    for (int k = 0; k < 10; ++k) text += fmt::format("*a{}, ", n - 1);
    text += "x]\n";
  }
  Problems problems("grid.yaml");
  EXPECT_LT(test::cpu_seconds_of([&] { parse_yaml(text, problems); }), 20);
  EXPECT_THAT(to_text(problems.sorted()), testing::HasSubstr("the document is too large"));
}

TEST(Bounds, OneLineOfMegabytesIsReadOnce) {
  for (const std::string part : {"{\"a\":", "[", "{a: ", "'a' ", "- ", "\"a\", ", "a: {", "? ", "&a *a "}) {
    std::string text;
    while (text.size() < (std::size_t{4} << 20)) text += part;
    Problems problems("grid.yaml");
    EXPECT_LT(test::cpu_seconds_of([&] { parse_yaml(text, problems); }), 20) << part;
  }
}

TEST(Bounds, AnyNumberOfUnknownKeysIsTold) {
  std::string text;
  for (int n = 0; n < 100'000; ++n) text += fmt::format("k{}: 1\n", n);
  Problems problems("grid.yaml");
  const auto tree = parse_yaml(text, problems);
  ASSERT_TRUE(tree);
  EXPECT_LT(test::cpu_seconds_of([&] { Fields(*tree, "", problems).finish(); }), 5);
  EXPECT_EQ(problems.sorted().size(), 100'000U);
}

}  // namespace
}  // namespace nkigrid::jobs
