#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "runner/device/sim/fork_servers.hpp"
#include "tests/device/small_task.hpp"

namespace nkigrid::device {
namespace {

using testing::HasSubstr;
using testing::Not;

jobs::CheckSpec short_timeout() {
  jobs::CheckSpec check;
  check.compile_timeout = Seconds(2);
  check.run_timeout = Seconds(2);
  return check;
}

/// After whatever a kernel did, the device must still work.
void expect_unharmed(TestDevice& test) {
  const auto compiled = test.compile(data_file("good.py") + "# " +
                                     std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + "\n");
  ASSERT_TRUE(compiled.ok()) << compiled.diagnostic.message;
  EXPECT_TRUE(test.device->verify(small_task(), *compiled.artifact, Stream::tool, 1).paper_ok);
}

TEST(HostileKernel, DeniedActIsEvidenceAndIsNamed) {
  TestDevice test;
  struct Case {
    const char* file;
    const char* words;
  };
  for (const auto& [file, words] :
       {Case{"opens_socket.py", "using a socket"}, Case{"runs_a_program.py", "starting a program"},
        Case{"runs_a_shell.py", "starting a program"},
        Case{"writes_a_file.py", "opening '/tmp/nkigrid-hostile' for writing"},
        Case{"writes_a_file_by_open.py", "for writing"}, Case{"removes_a_file.py", "removing a file"},
        Case{"reads_passwd.py", "opening '/etc/passwd' for reading"}, Case{"lists_root.py", "listing '/'"},
        Case{"reads_its_own_process.py", "opening '/proc/self/maps' for reading"},
        Case{"kills_its_parent.py", "signal to another process"},
        Case{"kills_by_system_call.py", "a system call that is denied"},
        Case{"ptraces_its_parent.py", "a system call that is denied"},
        Case{"signals_by_descriptor.py", "a system call that is denied"},
        Case{"owns_the_work_socket.py", "a system call that is denied"},
        Case{"leases_a_file.py", "a system call that is denied"},
        Case{"changes_an_inode.py", "a system call that is denied"}}) {
    SCOPED_TRACE(file);
    const auto compiled = test.compile(data_file(std::string("hostile/") + file));
    EXPECT_FALSE(compiled.ok());
    EXPECT_EQ(compiled.diagnostic.code, Code::rule_violation) << compiled.diagnostic.message;
    EXPECT_EQ(outcome_of(compiled.diagnostic.code, compiled.diagnostic.stage), Outcome::cheat);
    EXPECT_THAT(compiled.diagnostic.message, HasSubstr(words));
  }
  EXPECT_FALSE(std::filesystem::exists("/tmp/nkigrid-hostile"));
  expect_unharmed(test);
}

TEST(HostileKernel, HonestCodeThatMakesPythonOpenFilesIsNoCheat) {
  TestDevice test;
  struct Case {
    const char* text;
    Code code;
  };
  for (const auto& [text, code] :
       {Case{"import statistics\n", Code::py_syntax},
        Case{"import numpy as np\nimport numpy.fft\nC = np.linalg.inv(np.eye(3)) @ "
             "np.random.default_rng(1).normal(size=3)\n",
             Code::none},
        Case{"import typing, math, functools, itertools\n", Code::none},
        Case{"x = [\n", Code::py_syntax},  // Python looks for kernel.py to show the line
        Case{"return 3\n", Code::py_syntax},
        Case{"try:\n    exec('return 1')\nexcept SyntaxError:\n    pass\n", Code::none},  // and for <string>
        Case{"1 / 0\n", Code::py_exception}}) {
    SCOPED_TRACE(text);
    const auto compiled = test.compile(text + data_file("good.py"));
    EXPECT_EQ(compiled.diagnostic.code, code) << compiled.diagnostic.message;
  }
}

TEST(HostileKernel, WhatItDoesToItselfIsACompileFailure) {
  TestDevice test(short_timeout());
  for (const char* file : {"fork_bomb.py", "leaves_with_status_0.py", "system_exit.py", "crashes.py",
                           "writes_to_descriptors.py", "patches_the_tracer.py", "patches_the_reply.py"}) {
    SCOPED_TRACE(file);
    const auto compiled = test.compile(data_file(std::string("hostile/") + file));
    EXPECT_FALSE(compiled.ok());
    EXPECT_EQ(outcome_of(compiled.diagnostic.code, compiled.diagnostic.stage), Outcome::compile_fail)
        << compiled.diagnostic.message;
  }
  expect_unharmed(test);
}

TEST(HostileKernel, ChildThatDiesIsCompilerInternalWhileTheCanaryCompiles) {
  TestDevice test;
  const auto compiled = test.compile(data_file("hostile/leaves_with_status_0.py"));
  EXPECT_EQ(compiled.diagnostic.code, Code::compiler_internal);
  EXPECT_THAT(compiled.diagnostic.message, HasSubstr("exited with status 0"));
}

TEST(HostileKernel, WhateverItAnswersIsItsOwnFailure) {
  TestDevice test;
  for (const char* file : {"closes_its_answer_and_sleeps.py", "half_an_answer.py", "two_answers.py"}) {
    SCOPED_TRACE(file);
    const auto compiled = test.compile(data_file(std::string("hostile/") + file));
    EXPECT_FALSE(compiled.ok());
    EXPECT_EQ(outcome_of(compiled.diagnostic.code, compiled.diagnostic.stage), Outcome::compile_fail)
        << compiled.diagnostic.message;
    EXPECT_LT(compiled.seconds, 30) << "nobody waits for a child that has nothing to say";
  }
  expect_unharmed(test);
}

TEST(HostileKernel, MemoryHogEndsWithItself) {
  TestDevice test;
  const auto compiled = test.compile(data_file("hostile/takes_all_memory.py"));
  EXPECT_EQ(outcome_of(compiled.diagnostic.code, compiled.diagnostic.stage), Outcome::compile_fail)
      << compiled.diagnostic.message;
  expect_unharmed(test);
}

TEST(HostileKernel, EndlessLoopIsACompileTimeout) {
  TestDevice test(short_timeout());
  const auto compiled = test.compile(data_file("hostile/loops_forever.py"));
  EXPECT_EQ(compiled.diagnostic.code, Code::compile_timeout);
  EXPECT_EQ(outcome_of(compiled.diagnostic.code, compiled.diagnostic.stage), Outcome::compile_timeout);
  EXPECT_LT(compiled.seconds, 20);
  expect_unharmed(test);
}

TEST(HostileKernel, PythonThatRecordsNothingInsideTheKernelIsACompileTimeoutToo) {
  TestDevice test(short_timeout());
  auto source = data_file("good.py");
  const std::string first = "    out = ";
  source.insert(source.find(first), "    n = 0\n    while n >= 0:\n        n += 1\n");
  const auto compiled = test.compile(source);
  EXPECT_EQ(compiled.diagnostic.code, Code::compile_timeout) << compiled.diagnostic.message;
  EXPECT_EQ(outcome_of(compiled.diagnostic.code, compiled.diagnostic.stage), Outcome::compile_timeout);
  expect_unharmed(test);
}

TEST(HostileKernel, AServerThatSomebodyStoppedIsReplacedAndBlamesNobody) {
  TestDevice test(short_timeout());
  auto& servers = dynamic_cast<ForkServers&>(*test.servers);
  ::kill(servers.tracer().pid(), SIGSTOP);
  const auto compiled = test.compile(data_file("good.py"));
  ASSERT_TRUE(compiled.ok()) << compiled.diagnostic.message;
  ::kill(servers.run().pid(), SIGSTOP);
  EXPECT_TRUE(test.device->verify(small_task(), *compiled.artifact, Stream::tool, 1).paper_ok);
}

TEST(HostileKernel, HostSideEntriesAreNoKernels) {
  TestDevice test;
  for (const char* file : {"wipes_its_inputs.py", "forges_the_verdict.py"}) {
    SCOPED_TRACE(file);
    const auto compiled = test.compile(data_file(file));
    EXPECT_EQ(compiled.diagnostic.code, Code::no_kernel) << compiled.diagnostic.message;
    EXPECT_EQ(outcome_of(compiled.diagnostic.code, compiled.diagnostic.stage), Outcome::compile_fail);
  }
}

TEST(HostileKernel, DiagnosticsNameNoPathOrProcessOfOurs) {
  TestDevice test;
  for (const char* file : {"invented_name.py", "hostile/fork_bomb.py", "hostile/system_exit.py"}) {
    const auto compiled = test.compile(data_file(file));
    EXPECT_THAT(compiled.diagnostic.message, Not(HasSubstr(NKIGRID_BUILD_DIR)));
    EXPECT_THAT(compiled.diagnostic.message, Not(HasSubstr(NKIGRID_SOURCE_DIR)));
  }
}

}  // namespace
}  // namespace nkigrid::device
