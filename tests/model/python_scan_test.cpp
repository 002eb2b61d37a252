#include <gtest/gtest.h>

#include "runner/model/python/scan.hpp"
#include "runner/model/python/shape.hpp"
#include "tests/model/fixtures.hpp"

namespace nkigrid::model {
namespace {

using namespace std::string_literals;

TEST(PythonScan, TellsCodeFromCommentsAndStrings) {
  const std::string source = "x = 'a#b'  # c('\ny = \"\"\"t\n(\"\"\" + z\n";
  const PythonScan scan = scan_python(source);
  EXPECT_FALSE(scan.unterminated);
  EXPECT_EQ(scan.parts[source.find("a#b")], PythonPart::text);
  EXPECT_EQ(scan.parts[source.find("# c")], PythonPart::comment);
  EXPECT_EQ(scan.parts[source.find("+ z")], PythonPart::code);
  EXPECT_EQ(find_code(source, scan, "("), std::string_view::npos);
}

TEST(PythonScan, WordsAreFoundWholeOnly) {
  const std::string source = "nl.load(x)\nmy_nl.load(x)\n";
  const PythonScan scan = scan_python(source);
  EXPECT_EQ(find_code(source, scan, "nl.load", 1), std::string_view::npos);
  EXPECT_EQ(closing_bracket(source, scan, 7), 9u);
  EXPECT_EQ(line_of(source, 12), 2u);
}

TEST(LooksLikePython, EveryKnownKernelAndTaskDoes) {
  for (const jobs::Task& task : test::seed_benchmark().tasks) {
    EXPECT_TRUE(looks_like_python(test::seed_benchmark().known_kernel(task.id))) << task.id;
    EXPECT_TRUE(looks_like_python(task.source)) << task.id;
  }
}

TEST(LooksLikePython, AcceptsWhatPythonAccepts) {
  for (const std::string& source : {"x = 1"s,
                                    "x = 1  # a\0b"s,
                                    "def f(a, *, b=1) -> int:\n    return a if b else -a\n"s,
                                    "if x: y = 2\nelse: y = 3"s,
                                    "async def f():\n\tawait g()\n"s,
                                    "x = [1,\n  2]\n"s,
                                    "a = 1 + \\\n    2\n"s,
                                    "class A: ...\n"s,
                                    "def f():\n    ...\n"s,
                                    "@nki.jit\ndef k(x):\n    '''d'''\n    return x\n"s,
                                    "x = lambda a: a\n"s,
                                    "for i in range(3):\n  pass\n\n# end\n"s,
                                    "if (n := 3) > 2:\n    print(f\"{n!r:>3}\")\n"s,
                                    "x = 1.\n"s,
                                    "match x:\n    case 1:\n        pass\n"s,
                                    "assert x, 'm'\n"s,
                                    "x: int = 3\n"s,
                                    "del a\n"s,
                                    "with a as b, c:\n    pass\n"s,
                                    "raise E('x') from None\n"s,
                                    "x = not a\n"s,
                                    "lambda: 0\n"s}) {
    EXPECT_TRUE(looks_like_python(source)) << source;
  }
}

TEST(LooksLikePython, RefusesWhatIsCutOrProse) {
  for (const std::string& source : {""s, "# only a comment\n"s, "def f(:\n    pass"s, "def f():\n"s, "x = (1\n"s,
                                    "x = 'abc\n"s, "\"\"\"doc\n"s, "  x = 1\ny = 2\n"s, "for i in x\n    pass\n"s,
                                    "This is the kernel.\n"s, "x = 1\nThat handles every tile, and more.\n"s, "x = \n"s,
                                    "if x:\npass\n"s, "$ neuronx-cc\n"s, "a = 1)\n"s, "x = [1}\n"s}) {
    EXPECT_FALSE(looks_like_python(source)) << source;
  }
}

}  // namespace
}  // namespace nkigrid::model
