#include <gtest/gtest.h>

#include "jobs/base/files.hpp"
#include "runner/agent/extract.hpp"

namespace nkigrid::agent {
namespace {

std::string code_of(const std::string& reply, bool truncated = false) {
  const auto found = extract_code(reply, truncated);
  return found ? std::string(found->how) + ":" + found->code : "";
}

TEST(Extract, GrowsTheLastBlockOverInnerFencesOutsideThinking) {
  const std::string reply = read_file(std::string(NKIGRID_TEST_DATA) + "/cases/08_think_then_three_fences.txt");
  const auto found = extract_code(reply, false);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->how, "last_fence_extended");
  EXPECT_EQ(found->code.size(), 131u);
  EXPECT_TRUE(found->code.starts_with("\"\"\"Row softmax."));
  EXPECT_TRUE(found->code.ends_with("return x\n"));
}

TEST(Extract, TakesTheLastBlockOfAnAllowedTag) {
  EXPECT_EQ(code_of("```python\na = 1\n```\n```py\nb = 2\n```\n```bash\nls x\n```\n"), "last_fence:b = 2\n");
  EXPECT_EQ(code_of("```nki\na = 1\n```\n"), "last_fence:a = 1\n");
  EXPECT_EQ(code_of("```\na = 1\n```\n"), "last_fence:a = 1\n");
  EXPECT_EQ(code_of("```PYTHON title=x\na = 1\n```"), "last_fence:a = 1\n");
  EXPECT_EQ(code_of("```cpp\na = 1;\n```\n"), "");
}

TEST(Extract, PassesOverABlockThatIsNoPython) {
  EXPECT_EQ(code_of("```python\na = 1\n```\nIt prints:\n```\nThe result is fine.\n```\n"), "last_fence:a = 1\n");
}

TEST(Extract, AnUnclosedLastFenceCountsOnlyInAWholeReply) {
  EXPECT_EQ(code_of("x\n```python\na = 1\n"), "unclosed_fence:a = 1\n");
  EXPECT_EQ(code_of("x\n```python\na = 1\n", true), "");
  EXPECT_EQ(code_of("x\n```python\na = 1\n\nThis kernel handles it.\n"), "");
  EXPECT_EQ(code_of("```python\na = 1\n```\nand\n```python\nb = (", true), "last_fence:a = 1\n");
}

TEST(Extract, ThinkingIsNeverCode) {
  EXPECT_EQ(code_of("<think>\n```python\na = 1\n```\n</think>\nno code"), "");
  EXPECT_EQ(code_of("```python\na = 1\n```\n</think>\n```python\nb = 2\n```"), "last_fence:b = 2\n");
  EXPECT_EQ(code_of("<think>\n```python\na = 1\n```\n"), "");
  EXPECT_EQ(without_thinking("a<thinking>b</thinking>c<think>d</think>e"), "ace");
}

TEST(Extract, InlineTicksAndProseAreNoFence) {
  EXPECT_EQ(code_of("Use ```x = 1``` here."), "");
  EXPECT_EQ(code_of("x = 1"), "");
  EXPECT_EQ(code_of(""), "");
}

TEST(Extract, LongerFencesHoldShorterOnes) {
  EXPECT_EQ(code_of("````python\ns = \"\"\"\n```\n\"\"\"\n````\n"), "last_fence:s = \"\"\"\n```\n\"\"\"\n");
}

}  // namespace
}  // namespace nkigrid::agent
