#include "runner/proc/fork_server.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "jobs/base/error.hpp"
#include "runner/proc/server_loop.hpp"

namespace nkigrid::proc {
namespace {

/// What the children of the test's server do: one frame in, and then what it says.
int act(Fd work) {
  const auto read = read_frame(work.get(), deadline_after(20));
  if (read.end != ReadEnd::frame) return 0;
  const auto& word = read.frame.head;
  if (word == "echo") return write_frame(work.get(), word, read.frame.body, {}, deadline_after(20)) ? 0 : 1;
  if (word == "exit") return 7;
  if (word == "crash") ::raise(SIGSEGV);
  if (word == "hang") {
    for (;;) ::pause();
  }
  return 1;
}

/// A server in a forked copy of this process: serve_forks over a real control socket. What ForkServer spawns is a
/// program of its own; that pair is tested in the device room.
class Server {
 public:
  explicit Server(const ChildWork& work = {[](int) {}, act}) {
    auto pair = make_socket_pair(SocketKind::packets);
    pid_ = ::fork();
    if (pid_ == 0) {
      pair.ours = Fd();
      ::_exit(serve_forks(pair.theirs.get(), work));
    }
    control_ = std::move(pair.ours);
    order(kOrder);
  }
  ~Server() { stop(); }

  /// As ForkServer does it: the oldest one ordered, and one more.
  Job start() {
    order(kTaken);
    auto job = std::move(ahead_.front());
    ahead_.pop_front();
    return job;
  }
  pid_t pid() const { return pid_; }
  /// @returns the exit status of the server
  int stop() {
    if (pid_ < 0) return -1;
    control_ = Fd();
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  void order(std::string_view packet) {
    auto work = make_socket_pair(SocketKind::stream);
    auto status = make_socket_pair(SocketKind::packets);
    const std::array<int, 2> descriptors = {status.theirs.get(), work.theirs.get()};
    EXPECT_TRUE(send_packet(control_.get(), packet, descriptors));
    ahead_.emplace_back(std::move(work.ours), std::move(status.ours));
  }

  pid_t pid_ = -1;
  Fd control_;
  std::deque<Job> ahead_;
};

std::optional<JobEnd> send_and_wait(Job& job, const std::string& word) {
  EXPECT_TRUE(write_frame(job.work(), word, {}, {}, deadline_after(20)));
  return job.wait(deadline_after(20));
}

TEST(ForkServer, EveryJobHasAChildOfItsOwn) {
  Server server;
  std::vector<Job> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back(server.start());
  for (auto& job : jobs) ASSERT_TRUE(write_frame(job.work(), "echo", "body", {}, deadline_after(20)));
  for (auto& job : jobs) EXPECT_EQ(read_frame(job.work(), deadline_after(20)).frame.body, "body");
  for (auto& job : jobs) EXPECT_TRUE(is_success(job.wait(deadline_after(20))->end));
}

TEST(ForkServer, TellsHowAChildEnded) {
  Server server;
  auto exits = server.start(), crashes = server.start();
  EXPECT_EQ(std::get<Exited>(send_and_wait(exits, "exit")->end).status, 7);
  EXPECT_EQ(std::get<Signaled>(send_and_wait(crashes, "crash")->end).signal, SIGSEGV);
}

TEST(ForkServer, CancelledChildIsKilledAndOthersAreNot) {
  Server server;
  auto hangs = server.start(), works = server.start();
  ASSERT_TRUE(write_frame(hangs.work(), "hang", {}, {}, deadline_after(20)));
  hangs.cancel();
  EXPECT_TRUE(std::holds_alternative<TimedOut>(hangs.wait(deadline_after(20))->end));
  EXPECT_EQ(std::get<Exited>(send_and_wait(works, "exit")->end).status, 7);
}

TEST(ForkServer, AbandonedChildIsKilled) {
  Server server;
  Fd work;
  {
    auto job = server.start();
    ASSERT_TRUE(write_frame(job.work(), "hang", {}, {}, deadline_after(20)));
    work = Fd(::dup(job.work()));
  }
  // Only the end of the child closes its side of the stream.
  EXPECT_EQ(read_frame(work.get(), deadline_after(20)).end, ReadEnd::closed);
}

TEST(ForkServer, ServerLeavesWithItsChildrenWhenWeDo) {
  Server server;
  auto job = server.start();
  ASSERT_TRUE(write_frame(job.work(), "hang", {}, {}, deadline_after(20)));
  EXPECT_EQ(server.stop(), 0);
  EXPECT_EQ(read_frame(job.work(), deadline_after(20)).end, ReadEnd::closed);
  EXPECT_FALSE(job.wait(deadline_after(20)).has_value());
}

/// Children that are ready say their number, in a pipe.
class Ready {
 public:
  Ready() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    from_ = Fd(ends[0]), into_ = Fd(ends[1]);
  }
  ChildWork work() {
    return {[into = into_.get()](int) {
              const pid_t own = ::getpid();
              static_cast<void>(!::write(into, &own, sizeof own));
            },
            act};
  }
  pid_t next() {
    pid_t child = 0;
    EXPECT_EQ(::read(from_.get(), &child, sizeof child), static_cast<ssize_t>(sizeof child));
    return child;
  }

 private:
  Fd from_, into_;
};

TEST(ForkServer, AChildIsReadyBeforeItsJobAndServesOne) {
  Ready ready;
  Server server(ready.work());
  const pid_t first = ready.next();
  auto job = server.start();
  EXPECT_EQ(std::get<Exited>(send_and_wait(job, "exit")->end).status, 7);
  const pid_t second = ready.next();
  EXPECT_NE(first, second);
  auto next = server.start();
  EXPECT_EQ(std::get<Exited>(send_and_wait(next, "exit")->end).status, 7);
}

TEST(ForkServer, AChildThatIsReadyNeedsNoServerToBegin) {
  Ready ready;
  Server server(ready.work());
  ready.next();
  ::kill(server.pid(), SIGSTOP);
  auto job = server.start();
  ASSERT_TRUE(write_frame(job.work(), "echo", "body", {}, deadline_after(20)));
  EXPECT_EQ(read_frame(job.work(), deadline_after(20)).frame.body, "body");
  ::kill(server.pid(), SIGCONT);
  EXPECT_TRUE(is_success(job.wait(deadline_after(20))->end));
}

TEST(ForkServer, AChildThatDiesWaitingCostsNoJob) {
  Ready ready;
  Server server(ready.work());
  ::kill(ready.next(), SIGKILL);
  for (int k = 0; k < 2; ++k) {
    auto job = server.start();
    const auto end = send_and_wait(job, "exit");
    ASSERT_TRUE(end.has_value());
    // Its death and the job may come at once: then it was given the job, and has died of it.
    const bool lost = k == 0 && std::holds_alternative<Signaled>(end->end);
    EXPECT_TRUE(lost || std::get<Exited>(end->end).status == 7);
  }
}

TEST(ForkServer, ServerThatDiesAtStartIsNamedWithItsWords) {
  ForkServer server({"broken server", {"/bin/sh", "-c", "echo no such thing >&2; exit 3"}, {}});
  try {
    server.wait_ready(Seconds(20));
    FAIL() << "it did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::external);
    EXPECT_THAT(error.what(),
                testing::HasSubstr("broken server stopped while it started: no such thing (exit code 3)"));
  }
}

TEST(ForkServer, ServerThatDiesWithoutAWordIsNamedWithItsEnd) {
  ForkServer server({"mute server", {"/bin/sh", "-c", "kill -9 $$"}, {}});
  try {
    server.wait_ready(Seconds(20));
    FAIL() << "it did not throw";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("it said nothing (signal 9)"));
  }
}

}  // namespace
}  // namespace nkigrid::proc
