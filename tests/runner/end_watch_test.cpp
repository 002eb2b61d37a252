#include "runner/end_watch.hpp"

#include <gtest/gtest.h>

namespace nkigrid::runner {
namespace {

const std::vector<jobs::CellSpec> kCells{{.id = "m.agent.p", .model = "m", .mode = "agent", .prompt = "p"}};

/// A batch system that answers when the test lets it, an allocation of `limit`, turns of 10 s.
struct EndWatched : testing::Test {
  static constexpr Seconds kLimit{3600};

  void begin() {
    grid.models.push_back({.name = "m", .api = jobs::Synthetic{}});
    grid.check.compile_timeout = Seconds(120);
    turns.emplace(grid);
    turns->set_end(clock.monotonic(), kLimit);
    turns->saw_turn(kCells[0].id, Seconds(10));
    watch.emplace(jobs::EndQuestion{[this] { asked.push_back(clock.monotonic().count()); },
                                    [this] { return std::exchange(answer, std::nullopt); }},
                  clock.unix_seconds() + kLimit.count(), clock);
  }
  std::optional<double> look() { return watch->look(*turns, kCells); }
  /// Looks ten times a second for `time`. @returns the ends that moved
  std::vector<double> live(Seconds time) {
    std::vector<double> moved;
    for (const auto until = clock.monotonic() + time; clock.monotonic() < until; clock.advance(Seconds(0.1))) {
      if (const auto end = look()) moved.push_back(*end);
    }
    return moved;
  }

  ManualClock clock;
  jobs::Grid grid;
  std::optional<TurnClock> turns;
  std::optional<EndWatch> watch;
  std::vector<double> asked;
  std::optional<double> answer;
};

TEST_F(EndWatched, AsksOnceAMinute) {
  begin();
  live(Seconds(1000));
  EXPECT_GE(asked.size(), 15u);
  EXPECT_LE(asked.size(), 16u);
  for (std::size_t i = 1; i < asked.size(); ++i) EXPECT_GE(asked[i] - asked[i - 1], 60);
}

TEST_F(EndWatched, AsksOnceMoreBeforeTheFirstTurnThatDoesNotFitAndBeforeTheLastCall) {
  begin();
  turns->saw_turn(kCells[0].id, Seconds(40));  // 1.5 times that and the reserve: none fits in the last 70 s
  live(Seconds(3595));
  std::vector<double> near;
  for (const auto at : asked)
    if (at > 3600 - 79) near.push_back(at);
  ASSERT_EQ(near.size(), 2u);
  EXPECT_NEAR(near[0], 3600 - 78, 1.5);
  EXPECT_NEAR(near[1], 3600 - 40, 1.5);
}

TEST_F(EndWatched, ALongerLimitIsToldOnceAndWatchedAnew) {
  begin();
  live(Seconds(70));
  answer = clock.unix_seconds() + 7200;
  EXPECT_EQ(live(Seconds(5)).size(), 1u);
  live(Seconds(3600));
  const auto count = asked.size();
  live(Seconds(60));
  EXPECT_LE(asked.size() - count, 1u) << "the old end's stages are no occasion";
}

TEST_F(EndWatched, AShorterLimitIsToldToo) {
  begin();
  answer = clock.unix_seconds() + 600;
  const auto moved = live(Seconds(3));
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_DOUBLE_EQ(moved[0], ManualClock().unix_seconds() + 600);
}

TEST_F(EndWatched, TheSameEndInWholeSecondsIsNoMove) {
  begin();
  answer = clock.unix_seconds() + kLimit.count() - 3;
  EXPECT_TRUE(live(Seconds(100)).empty());
}

TEST_F(EndWatched, WithoutALimitOrAnybodyToAskNothingIsAsked) {
  begin();
  watch.emplace(jobs::EndQuestion{[this] { asked.push_back(0); }, [] { return std::nullopt; }}, std::nullopt, clock);
  EXPECT_TRUE(live(Seconds(200)).empty());
  watch.emplace(jobs::EndQuestion{}, clock.unix_seconds() + 100, clock);
  EXPECT_TRUE(live(Seconds(200)).empty());
  EXPECT_TRUE(asked.empty());
}

TEST(TurnClock, AMovedEndKeepsTheAllowanceOfTheFirst) {
  jobs::Grid grid;
  grid.models.push_back({.name = "m", .api = jobs::Synthetic{}});
  grid.check.compile_timeout = Seconds(1200);
  TurnClock turns(grid);
  turns.set_end(Seconds(0), Seconds(400));
  EXPECT_FALSE(turns.fits(kCells[0], Seconds(295)));
  turns.move_end(Seconds(4000));
  EXPECT_EQ(turns.bound(kCells[0]), Seconds(100));
  EXPECT_TRUE(turns.fits(kCells[0], Seconds(295)));
  turns.move_end(Seconds(300));
  EXPECT_FALSE(turns.fits(kCells[0], Seconds(195)));
}

}  // namespace
}  // namespace nkigrid::runner
