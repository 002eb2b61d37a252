// A reply is as long as a model makes it; what is looked for in it is looked for once.
#include <gtest/gtest.h>

#include <string>

#include "runner/agent/extract.hpp"
#include "tests/cpu_time.hpp"

namespace nkigrid::agent {
namespace {

std::string repeated(std::string_view text, std::size_t bytes) {
  std::string all;
  while (all.size() < bytes) all += text;
  return all;
}

TEST(Bounds, RepliesOfMegabytesAreReadInMoments) {
  const std::string line(200, 'x');
  for (const auto& part :
       {std::string("```python\n"), std::string("```python\n'''\n```\n"), "```python\n\"\"\"" + line + "\n```\n",
        "```\n" + line + "\n", std::string("<think>"), std::string("</think><think>"), std::string("~~~~\n```\n"),
        "```python\n'" + line + "\n```python\n", std::string("> - 1. ```\n"),
        std::string("```python\nx\n``` That is it\n"), std::string("```a-b-c-d\n"), std::string("[think]"),
        std::string("[/think]x"), std::string("x # ```\n"), std::string("Here: ```python\nx```\n")}) {
    EXPECT_LT(test::cpu_seconds_of([&] { extract_code(repeated(part, 1 << 20), false); }), 20) << part;
  }
}

}  // namespace
}  // namespace nkigrid::agent
