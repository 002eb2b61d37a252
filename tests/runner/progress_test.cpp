#include "runner/progress.hpp"

#include <gtest/gtest.h>
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

TEST(Progress, QuietPrintsNothing) {
  Pipe pipe;
  ManualClock clock;
  Progress progress(pipe.write_end.get(), false, true, clock);
  progress.show({.episodes = 1});
  progress.finish({.episodes = 1});
  EXPECT_EQ(pipe.text(), "");
}

}  // namespace
}  // namespace nkigrid::runner
