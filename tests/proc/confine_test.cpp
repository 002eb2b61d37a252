// nkigrid_confine: what a foreign program can and cannot do inside, and that nobody outlives it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "jobs/base/files.hpp"
#include "runner/proc/bound_child.hpp"
#include "runner/proc/end_descendants.hpp"
#include "runner/proc/frame.hpp"
#include "runner/proc/spawn.hpp"

namespace nkigrid::proc {
namespace {

namespace fs = std::filesystem;

/// A Python program behind walls, and our end of its lifeline.
struct Confined {
  TemporaryDirectory scratch;
  Fd lifeline, news;
  Process process;

  Confined(const std::string& level, const std::string& script) {
    std::array<int, 2> life{}, words{};
    if (::pipe2(life.data(), O_CLOEXEC) != 0 || ::pipe2(words.data(), O_CLOEXEC) != 0)
      throw std::runtime_error("no pipe");
    const Fd its_life(life[0]), its_words(words[1]);
    lifeline = Fd(life[1]);
    news = Fd(words[0]);
    std::vector<std::string> argv = {NKIGRID_BUILD_DIR "/libexec/nkigrid_confine", level};
    for (const char* folder : {"/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/dev"}) {
      argv.emplace_back("--read");
      argv.emplace_back(folder);
    }
    for (const std::string& word : {std::string("--write"), scratch.path().native(), std::string("--"),
                                    std::string("/usr/bin/python3"), std::string("-c"), script})
      argv.push_back(word);
    const std::array<DescriptorMap, 2> descriptors = {{{its_words.get(), 3}, {its_life.get(), 4}}};
    process = spawn(argv, {"SCRATCH=" + scratch.path().native()}, descriptors, Group::own_session);
  }
  ChildEnd end() {
    auto how = reap(process);
    return how;
  }
};

int status_of(const ChildEnd& end) {
  const auto* exited = std::get_if<Exited>(&end);
  return exited != nullptr ? exited->status : -1;
}

/// 0 when `act` is refused with an OSError, else 1.
std::string refused(const std::string& act) {
  return "import os, sys\ntry:\n    " + act + "\nexcept OSError:\n    sys.exit(0)\nsys.exit(1)\n";
}

bool is_running(const std::string& word) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    for (std::string line; std::getline(file, line, '\0');)
      if (line == word) return true;
  }
  return false;
}

TEST(Confine, ItEndsAsTheProgramEnded) {
  for (const char* level : {"strict", "relaxed"}) {
    EXPECT_EQ(status_of(Confined(level, "import sys; sys.exit(7)").end()), 7);
    for (const int signal : {SIGSEGV, SIGTERM}) {
      const auto end = Confined(level, "import os; os.kill(os.getpid(), " + std::to_string(signal) + ")").end();
      ASSERT_NE(std::get_if<Signaled>(&end), nullptr) << level;
      EXPECT_EQ(std::get<Signaled>(end).signal, signal);
    }
  }
}

TEST(Confine, StrictRefusesWhatIsOutside) {
  EXPECT_EQ(status_of(Confined("strict", "import os; open(os.environ['SCRATCH'] + '/x', 'w').write('x')").end()), 0);
  EXPECT_EQ(status_of(Confined("strict", "import multiprocessing as m; m.Pool(1).map(abs, [1])").end()), 0)
      << "worker processes and their locks work";
  for (const char* act :
       {"open('/tmp/nkigrid-confine-escape', 'w')", "os.listdir('/root')", "import socket; socket.socket()",
        "os.kill(1234567 % 4194304, 0)", "open('/proc/%d/mem' % os.getppid(), 'rb')"}) {
    EXPECT_EQ(status_of(Confined("strict", refused(act)).end()), 0) << act;
  }
  EXPECT_FALSE(fs::exists("/tmp/nkigrid-confine-escape"));
  const auto ours = std::to_string(::getpid());
  EXPECT_EQ(status_of(Confined("strict", refused("os.kill(" + ours + ", 0)")).end()), 0)
      << "process numbers are its own";
}

TEST(Confine, LifelineThatClosesKillsAllEvenAnotherSession) {
  for (const std::string level : {"strict", "relaxed"}) {
    const auto word = level == "strict" ? "271.5" : "272.5";
    Confined confined(level, "import os, subprocess, time\nsubprocess.Popen(['/usr/bin/setsid', 'sleep', '" +
                                 std::string(word) + "'])\nos.write(3, b'x')\ntime.sleep(100)\n");
    char byte = 0;
    ASSERT_EQ(::read(confined.news.get(), &byte, 1), 1);
    confined.lifeline = Fd();
    const auto end = confined.end();
    EXPECT_NE(std::get_if<Signaled>(&end), nullptr);
    EXPECT_FALSE(is_running(word)) << level;
  }
}

/// An open program: `script` of Python, with a file of its own for its marks.
struct Open {
  TemporaryDirectory folder;
  Bound program;
  Fd news;

  explicit Open(const std::string& script) {
    std::array<int, 2> words{};
    if (::pipe2(words.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    const Fd out(words[1]);
    news = Fd(words[0]);
    BoundStart start;
    start.out = start.err = out.get();
    program = start_bound({"/usr/bin/python3", "-c", script, (folder.path() / "mark").native()}, start);
  }
  /// What it said, up to `bytes`. Waits for them.
  std::string said(std::size_t bytes) const {
    std::string text;
    for (char byte = 0; text.size() < bytes && ::read(news.get(), &byte, 1) == 1;) text += byte;
    return text;
  }
};

/// Who starts others anew when they end must not see anybody end: each of these would leave a mark.
TEST(Confine, NobodySeesAnotherEndWhenAllAreEnded) {
  Open open(
      "import os, select, sys\n"
      "program = os.pidfd_open(os.getpid())\n"
      "mark = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)\n"
      "for i in range(9):\n"
      "    if os.fork() == 0:\n"
      "        if i % 2: os.setsid()\n"
      "        watch = select.poll()\n"
      "        watch.register(program)\n"
      "        os.write(1, b'x')\n"
      "        if watch.poll(5000): os.write(mark, b'saw it')\n"
      "        os._exit(0)\n"
      "select.poll().poll(5000)\n");
  ASSERT_EQ(open.said(9), "xxxxxxxxx");
  end_bound(open.program);
  EXPECT_EQ(open.said(1), "") << "nobody holds the other end";
  EXPECT_EQ(fs::file_size(open.folder.path() / "mark"), 0U);
}

TEST(Confine, WhoMakesItselfAnewIsEnded) {
  // Two at a time, and at most 40: each ends as soon as it has started the next.
  Open open(
      "import os, select\n"
      "os.setsid() if os.fork() == 0 else select.poll().poll(5000)\n"
      "os.write(1, b'x')\n"
      "for i in range(40):\n"
      "    if os.fork(): os._exit(0)\n"
      "select.poll().poll(5000)\n");
  ASSERT_EQ(open.said(1), "x");
  end_bound(open.program);
  EXPECT_EQ(open.said(1), "") << "nobody holds the other end";
}

TEST(Confine, AnOrphanThatEndsIsReapedWhileTheProgramGoesOn) {
  Open open(
      "import os, time\n"
      "child = os.fork()\n"
      "if child == 0:\n"
      "    orphan = os.fork()\n"
      "    if orphan: os.write(1, b'%9d' % orphan)\n"
      "    os._exit(0)\n"
      "os.waitpid(child, 0)\n"
      "time.sleep(60)\n");
  const auto orphan = "/proc/" + std::to_string(std::stoi(open.said(9)));
  const auto deadline = deadline_after(20);
  while (fs::exists(orphan) && std::chrono::steady_clock::now() < deadline) ::usleep(1000);
  EXPECT_FALSE(fs::exists(orphan));
  end_bound(open.program);
}

TEST(EndDescendants, WhatCannotBeEndedInTimeIsCounted) {
  const pid_t keeper = ::fork();
  if (keeper == 0) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (::fork() == 0) {
      ::alarm(5);
      ::pause();
    }
    // No time at all: it is killed, and nobody has waited for its end. With time nobody is left.
    const auto left = end_descendants({std::chrono::milliseconds(0), std::chrono::milliseconds(0)});
    ::_exit(left <= 1 && end_descendants() == 0 && ::wait(nullptr) < 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(keeper, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace nkigrid::proc
