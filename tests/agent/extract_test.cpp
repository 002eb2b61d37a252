#include <gtest/gtest.h>

#include "jobs/base/files.hpp"
#include "runner/agent/extract.hpp"
#include "runner/model/recovery/thinking.hpp"

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
  EXPECT_EQ(code_of("```python\ndef a(): 1\n```\n```py\ndef b(): 2\n```\n```bash\nls x\n```\n"),
            "last_fence:def b(): 2\n");
  EXPECT_EQ(code_of("```nki\ndef a(): 1\n```\n"), "last_fence:def a(): 1\n");
  EXPECT_EQ(code_of("```\ndef a(): 1\n```\n"), "last_fence:def a(): 1\n");
  EXPECT_EQ(code_of("```PYTHON title=x\ndef a(): 1\n```"), "last_fence:def a(): 1\n");
  EXPECT_EQ(code_of("```cpp\ndef a(): 1;\n```\n"), "");
}

TEST(Extract, PassesOverABlockThatIsNoPython) {
  EXPECT_EQ(code_of("```python\ndef a(): 1\n```\nIt prints:\n```\nThe result is fine.\n```\n"),
            "last_fence:def a(): 1\n");
}

const std::string kDraft = "from neuronxcc import nki\n\n@nki.jit\ndef kernel(x):\n    return x\n";
const std::string kSlip = "from neuronxcc import nki\n\n@nki.jit\ndef kernel(x)\n    return x + 1\n";  // no colon

std::string python(const std::string& code) { return "```python\n" + code + "```\n"; }

TEST(Extract, ASlipOfSyntaxInTheLastKernelIsNoReasonToTakeAnEarlierDraft) {
  EXPECT_EQ(code_of(python(kSlip)), "last_fence:" + kSlip);
  EXPECT_EQ(code_of("A draft:\n" + python(kDraft) + "Better:\n" + python(kSlip)), "last_fence:" + kSlip);
  const std::string open_string = "@nki.jit\ndef kernel(x):\n    print('abc)\n    return x\n";
  EXPECT_EQ(code_of(python(kDraft) + python(open_string)), "last_fence:" + open_string);
  const std::string undecorated = "import neuronxcc.nki.language as nl\ndef kernel(x)\n    return nl.load(x)\n";
  EXPECT_EQ(code_of(python(undecorated)), "last_fence:" + undecorated);
}

TEST(Extract, WhatFollowsTheKernelIsNotTheKernel) {
  const std::string torch =
      "import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x\n";
  const std::vector<std::string> others = {"x = np.ones((4, 8))\nout = kernel(x)\n",  // a usage example
                                           "import numpy as np\n\ndef test():\n    return kernel(1)\n",  // another
                                           "acc = nl.zeros((128, 512), dtype=nl.float32)\n",     // a quoted line
                                           "@nki.jit\n",                                         // another
                                           torch,                                                // the reference
                                           "kernel.py:3: error: the tile has 256 partitions\n",  // output
                                           "def helper(t):\n    return nl.exp(t)\n"};            // a part of it
  for (const auto& other : others) {
    EXPECT_EQ(code_of(python(kDraft) + "Then:\n" + python(other)), "last_fence:" + kDraft) << other;
    EXPECT_EQ(code_of(python(kSlip) + "Then:\n" + python(other)), "last_fence:" + kSlip) << other;
  }
}

TEST(Extract, WithoutADecoratorTheLastThatLooksLikeAKernelIsIt) {
  const std::string plain = "import neuronxcc.nki.language as nl\n\ndef kernel(x):\n    return nl.load(x)\n";
  EXPECT_EQ(code_of(python(plain) + python("out = kernel(x)\n")), "last_fence:" + plain);
  EXPECT_EQ(code_of(python("import torch\ndef forward(x):\n    return torch.relu(x)\n")), "");
  EXPECT_EQ(code_of(python("t = nl.load(x[0:128])\n")), "");
  // Words in strings and comments are no names.
  const std::string mentions = "def kernel(x):\n    # as torch.relu does\n    return x\n";
  EXPECT_EQ(code_of(python(mentions)), "last_fence:" + mentions);
}

TEST(Extract, FencesAreReadAsModelsWriteThem) {
  for (const std::string tag :
       {"python3", "py title=\"kernel.py\"", "python:kernel.py", "Python {.numberLines}", "kernel.py"})
    EXPECT_EQ(code_of("```" + tag + "\n" + kDraft + "```\n"), "last_fence:" + kDraft) << tag;
  EXPECT_EQ(code_of("~~~python\n" + kDraft + "~~~\n"), "last_fence:" + kDraft);
  EXPECT_EQ(code_of("~~~python\n" + kDraft + "```\n~~~~\n"), "last_fence:" + kDraft + "```\n");
  const auto within = [&](const std::string& first, const std::string& rest) {
    std::string text = first + "```python\n";
    for (std::size_t at = 0; at < kDraft.size(); at = kDraft.find('\n', at) + 1)
      text += rest + kDraft.substr(at, kDraft.find('\n', at) + 1 - at);
    return text + rest + "```\nThat is all.\n";
  };
  EXPECT_EQ(code_of("1. The kernel:\n\n" + within("    ", "    ")), "last_fence:" + kDraft);
  EXPECT_EQ(code_of(within("- ", "  ")), "last_fence:" + kDraft);
  EXPECT_EQ(code_of(within("12. ", "    ")), "last_fence:" + kDraft);
  EXPECT_EQ(code_of(within("> ", "> ")), "last_fence:" + kDraft);
}

TEST(Extract, AFenceInADocstringIsNoEnd) {
  const std::string code =
      "@nki.jit\ndef kernel(x):\n    \"\"\"Call it so:\n\n    ```python\n    kernel(x)\n    ```\n    \"\"\"\n    "
      "return x(\n";
  EXPECT_EQ(code_of(python(code)), "last_fence:" + code);  // and what follows it has a slip of its own
}

TEST(Extract, AFenceThatWasNeverClosedEndsWhereTheNextBegins) {
  EXPECT_EQ(code_of("```python\n" + kDraft + "\nOr rather:\n" + python(kSlip)), "last_fence:" + kSlip);
}

TEST(Extract, AnUnclosedLastFenceCountsOnlyInAWholeReply) {
  EXPECT_EQ(code_of("x\n```python\ndef a(): 1\n"), "unclosed_fence:def a(): 1\n");
  EXPECT_EQ(code_of("x\n```python\ndef a(): 1\n", true), "");
  EXPECT_EQ(code_of("x\n```python\ndef a(): 1\n\nThis kernel handles it.\n"), "");
  EXPECT_EQ(code_of("```python\ndef a(): 1\n```\nand\n```python\nb = (", true), "last_fence:def a(): 1\n");
}

TEST(Extract, ThinkingIsNeverCode) {
  EXPECT_EQ(code_of("<think>\n```python\ndef a(): 1\n```\n</think>\nno code"), "");
  EXPECT_EQ(code_of("```python\ndef a(): 1\n```\n</think>\n```python\ndef b(): 2\n```"), "last_fence:def b(): 2\n");
  EXPECT_EQ(code_of("<think>\n```python\ndef a(): 1\n```\n"), "");
  EXPECT_EQ(model::without_thinking("a<thinking>b</thinking>c<think>d</think>e"), "ace");
  EXPECT_EQ(model::without_thinking("<think>a<think>b</think>c</think>d<think>e"), "d");
  EXPECT_EQ(model::without_thinking("a</think>b</think>c<thinking>d"), "c");
  EXPECT_EQ(model::without_thinking("</thinking>a<think></think><think></think>b"), "ab");
}

TEST(Extract, ReplyOfNothingButThinkingMarksIsReadOnce) {
  // Ten megabytes: with a copy of the rest for each mark this would not end today.
  std::string marks;
  while (marks.size() < 10'000'000) marks += "</think>";
  EXPECT_EQ(model::without_thinking(marks + "a"), "a");
  marks.clear();
  while (marks.size() < 10'000'000) marks += "x<think>y</think>";
  EXPECT_EQ(model::without_thinking(marks).size(), marks.size() / 17);
}

TEST(Extract, InlineTicksAndProseAreNoFence) {
  EXPECT_EQ(code_of("Use ```x = 1``` here."), "");
  EXPECT_EQ(code_of("x = 1"), "");
  EXPECT_EQ(code_of(""), "");
}

TEST(Extract, LongerFencesHoldShorterOnes) {
  EXPECT_EQ(code_of("````python\ndef s(): \"\"\"\n```\n\"\"\"\n````\n"), "last_fence:def s(): \"\"\"\n```\n\"\"\"\n");
}

}  // namespace
}  // namespace nkigrid::agent
