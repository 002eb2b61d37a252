#include "runner/progress.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "jobs/base/files.hpp"

namespace nkigrid::runner {
namespace {

struct Pipe {
  Fd read_end, write_end;
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    read_end = Fd(ends[0]);
    write_end = Fd(ends[1]);
  }
  std::string text() {
    write_end = Fd();
    std::string all;
    char buffer[4096];
    for (ssize_t got; (got = ::read(read_end.get(), buffer, sizeof buffer)) > 0;)
      all.append(buffer, static_cast<std::size_t>(got));
    return all;
  }
};

TEST(Progress, APipeGetsWholePlainLinesAtEachStep) {
  Pipe pipe;
  ManualClock clock;
  Progress progress(pipe.write_end.get(), false, false, clock);
  progress.show({.episodes = 100, .scored = 0});
  clock.advance(Seconds(1));
  progress.show({.episodes = 100, .scored = 1, .passed = 1, .in_flight = 2});  // no new step: silent
  progress.show({.episodes = 100, .scored = 10, .passed = 4, .in_flight = 2});
  EXPECT_EQ(pipe.text(),
            "0/100 episodes, 0 passed, 0 running, 0s elapsed, ETA ?\n"
            "10/100 episodes, 4 passed, 2 running, 1s elapsed, ETA 9s\n");
}

TEST(Progress, TheLastLineOfAPipeIsPrintedOnce) {
  Pipe pipe;
  ManualClock clock;
  Progress progress(pipe.write_end.get(), false, false, clock);
  progress.show({.episodes = 4});
  progress.show({.episodes = 4, .scored = 4, .passed = 2});
  clock.advance(Seconds(2));
  progress.finish({.episodes = 4, .scored = 4, .passed = 2});
  EXPECT_EQ(
      pipe.text(),
      "0/4 episodes, 0 passed, 0 running, 0s elapsed, ETA ?\n4/4 episodes, 2 passed, 0 running, 0s elapsed, ETA 0s\n");
}

TEST(Progress, WhatChangedSinceTheLastLineIsPrintedAtTheEnd) {
  Pipe pipe;
  ManualClock clock;
  Progress progress(pipe.write_end.get(), false, false, clock);
  progress.show({.episodes = 100});
  progress.show({.episodes = 100, .scored = 1, .in_flight = 2});
  progress.finish({.episodes = 100, .scored = 3});
  EXPECT_NE(pipe.text().find("3/100 episodes, 0 passed, 0 running"), std::string::npos);
}

TEST(Progress, ATerminalIsRewrittenAtMostTenTimesASecond) {
  Pipe pipe;
  ManualClock clock;
  Progress progress(pipe.write_end.get(), true, false, clock);
  progress.show({.episodes = 4});
  progress.show({.episodes = 4, .scored = 1});
  clock.advance(Seconds(0.1));
  progress.show({.episodes = 4, .scored = 2});
  progress.finish({.episodes = 4, .scored = 4});
  const auto text = pipe.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\r'), 3);
  EXPECT_EQ(text.back(), '\n');
}

TEST(Progress, FailedAttemptsAreNamedAsTheMachinerys) {
  Pipe pipe;
  ManualClock clock;
  Progress(pipe.write_end.get(), false, false, clock).finish({.episodes = 2, .scored = 1, .failed_attempts = 3});
  EXPECT_NE(pipe.text().find("3 attempts failed by the machinery"), std::string::npos);
}

/// A terminal of `columns`. Its slave end is written to, its master end read.
struct Terminal {
  Fd master, slave;
  explicit Terminal(unsigned short columns) {
    int ends[2];
    const winsize window{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    EXPECT_EQ(::openpty(&ends[0], &ends[1], nullptr, nullptr, &window), 0);
    master = Fd(ends[0]);
    slave = Fd(ends[1]);
  }
  std::string text() const {
    char buffer[4096];
    const auto got = ::read(master.get(), buffer, sizeof buffer);
    return {buffer, static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
  }
};

TEST(Progress, ALineIsNeverAsWideAsTheTerminal) {
  ManualClock clock;
  for (const unsigned short columns : {20, 40, 60, 80, 100, 200}) {
    const Terminal terminal(columns);
    Progress progress(terminal.slave.get(), true, false, clock);
    progress.show({.episodes = 100'000, .scored = 54'321, .passed = 12'345, .in_flight = 512, .failed_attempts = 987});
    const auto text = terminal.text();
    ASSERT_EQ(text.front(), '\r') << columns;
    ASSERT_EQ(text.substr(text.size() - 3), "\x1b[K") << columns;
    EXPECT_LT(text.size() - 4, columns) << text;
    EXPECT_NE(text.find("54321/100000"), std::string::npos) << text;
    EXPECT_TRUE(columns < 40 || text.find("ETA") != std::string::npos) << text;
    EXPECT_TRUE(columns < 60 || text.find("12345 passed") != std::string::npos) << text;
  }
}

TEST(Progress, TheFirstFailureOfAKindIsTold) {
  Pipe pipe;
  ManualClock clock;
  Progress progress(pipe.write_end.get(), false, false, clock);
  progress.show({.episodes = 9, .failed_attempts = 1, .failure = "api_error: connection refused"});
  progress.show({.episodes = 9, .failed_attempts = 2, .failure = "api_error: connection reset"});
  progress.show({.episodes = 9, .failed_attempts = 3, .failure = "device_error: \x1b[2Jgone"});
  const auto text = pipe.text();
  EXPECT_EQ(text.find("connection refused"), text.rfind("connection refused"));
  EXPECT_NE(text.find("connection refused"), std::string::npos);
  EXPECT_EQ(text.find("connection reset"), std::string::npos);
  EXPECT_NE(text.find("device_error: \\x1b[2Jgone"), std::string::npos) << text;
}

TEST(Progress, ADrainingRunSaysSoAndForecastsNothing) {
  Pipe pipe;
  ManualClock clock;
  Progress progress(pipe.write_end.get(), false, false, clock);
  progress.show({.episodes = 100, .scored = 1, .in_flight = 4});
  progress.tell("draining 4 episodes");
  clock.advance(Seconds(3));
  progress.show({.episodes = 100, .scored = 2, .passed = 1, .in_flight = 3, .draining = true});
  EXPECT_NE(pipe.text().find("nkigrid: draining 4 episodes\n2/100 episodes, 1 passed, 3 draining, 3s elapsed, ETA -\n"),
            std::string::npos);
}

TEST(Progress, QuietPrintsNothing) {
  Pipe pipe;
  ManualClock clock;
  Progress progress(pipe.write_end.get(), false, true, clock);
  progress.show({.episodes = 1});
  progress.tell("words");
  progress.finish({.episodes = 1, .failure = "api_error: x"});
  EXPECT_EQ(pipe.text(), "");
}

}  // namespace
}  // namespace nkigrid::runner
