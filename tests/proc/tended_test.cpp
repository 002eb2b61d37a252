#include "runner/proc/tended.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <fstream>

#include <fmt/core.h>

#include "jobs/base/error.hpp"

namespace nkigrid::proc {
namespace {

struct TendedTest : testing::Test {
  TemporaryDirectory folder;
  Fd output{::open((folder.path() / "out").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)};

  std::unique_ptr<Tended> start(const std::string& script) const {
    return std::make_unique<Tended>(std::vector<std::string>{"/bin/sh", "-c", script},
                                    std::vector<std::string>{"PATH=/usr/bin:/bin"}, output);
  }
  /// The words that it printed, once there are so many.
  std::vector<pid_t> wait_for_pids(std::size_t count) const {
    for (;;) {
      std::ifstream file(folder.path() / "out");
      std::vector<pid_t> pids;
      for (pid_t pid = 0; file >> pid;) pids.push_back(pid);
      if (pids.size() >= count) return pids;
      ::poll(nullptr, 0, 5);
    }
  }
};

bool is_there(pid_t pid) { return ::kill(pid, 0) == 0; }

TEST_F(TendedTest, EndsTheProgramAndAllThatItStarted) {
  const auto program = start("trap '' TERM; setsid sh -c 'sleep 1000 & echo $!; wait' & sleep 1000 & echo $!; wait");
  const auto pids = wait_for_pids(2);
  for (const auto pid : pids) EXPECT_TRUE(is_there(pid));
  const auto end = program->end(Seconds(0.05));
  EXPECT_EQ(std::get<Signaled>(end).signal, SIGKILL);
  for (const auto pid : pids) EXPECT_FALSE(is_there(pid)) << "one had left the session, one ignores TERM";
}

TEST_F(TendedTest, GivesTimeToEndWell) {
  const auto program = start("trap 'exit 7' TERM; echo $$; while :; do sleep 0.01; done");
  wait_for_pids(1);
  EXPECT_EQ(std::get<Exited>(program->end(Seconds(30))).status, 7);
}

TEST_F(TendedTest, SaysThatItEndedByItself) {
  const auto program = start("exit 3");
  pollfd watched{program->pidfd(), POLLIN, 0};
  ASSERT_EQ(::poll(&watched, 1, 30'000), 1);
  EXPECT_EQ(std::get<Exited>(program->end(Seconds(0))).status, 3);
}

TEST_F(TendedTest, AProgramThatIsNoneIsTold) {
  try {
    Tended({"/no/such/program"}, {}, output);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot start '/no/such/program': No such file or directory");
  }
}

}  // namespace
}  // namespace nkigrid::proc
