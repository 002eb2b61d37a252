#include "runner/stop.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace nkigrid::runner {
namespace {

constexpr Seconds kNow{1000};

jobs::Grid some_grid() {
  jobs::Grid grid;
  grid.models.push_back({.name = "m", .api = jobs::Synthetic{}});
  grid.check.compile_timeout = Seconds(120);
  grid.check.run_timeout = Seconds(60);
  return grid;
}

const jobs::CellSpec kCell{.id = "m.agent.p", .model = "m", .mode = "agent", .prompt = "p"};

TEST(StopPlan, NothingStopsARunWithoutLimitAndSignal) { EXPECT_EQ(StopPlan().stage(Seconds(1e9)), StopStage::none); }

TEST(StopPlan, TheLimitAloneEndsWaitsThenTheProcess) {
  StopPlan plan;
  plan.set_end(kNow);
  EXPECT_EQ(plan.stage(kNow - Seconds(40)), StopStage::none);
  EXPECT_EQ(plan.stage(kNow - Seconds(31)), StopStage::last_call);
  EXPECT_EQ(plan.stage(kNow - Seconds(9)), StopStage::abandon);
}

TEST(StopPlan, AWarningLetsTurnsRunUntilTheLimit) {
  StopPlan plan;
  plan.set_end(kNow);
  plan.signal(SIGUSR1, kNow - Seconds(120));
  EXPECT_EQ(plan.stage(kNow - Seconds(100)), StopStage::closed);
  EXPECT_EQ(plan.stage(kNow - Seconds(31)), StopStage::last_call);
}

TEST(StopPlan, AWarningWithoutAKnownLimitIsALastCallThatNeverAbandons) {
  StopPlan plan;
  plan.signal(SIGUSR1, kNow);
  EXPECT_EQ(plan.stage(kNow), StopStage::last_call);
  EXPECT_EQ(plan.stage(kNow + Seconds(1e6)), StopStage::last_call);
}

TEST(StopPlan, TermAbandonsAfterItsGraceAlsoAfterAWarning) {
  StopPlan plan;
  plan.signal(SIGUSR1, kNow);
  plan.signal(SIGTERM, kNow + Seconds(5));
  EXPECT_EQ(plan.stage(kNow + Seconds(12)), StopStage::last_call);
  EXPECT_EQ(plan.stage(kNow + Seconds(13)), StopStage::abandon);
}

TEST(StopPlan, AnInterruptWaitsForWhatIsInFlight) {
  StopPlan plan;
  plan.signal(SIGINT, kNow);
  EXPECT_EQ(plan.stage(kNow + Seconds(1e6)), StopStage::last_call);
}

TEST(TurnClock, EverythingFitsWithoutALimit) {
  const auto grid = some_grid();
  EXPECT_TRUE(TurnClock(grid).fits(kCell, Seconds(1e9)));
}

TEST(TurnClock, ATurnFitsWhileHalfAgainOfTheLongestRecentOneIsLeft) {
  const auto grid = some_grid();
  TurnClock clock(grid);
  clock.set_end(Seconds(0), Seconds(1000));
  clock.saw_turn(kCell.id, Seconds(20));
  clock.saw_turn(kCell.id, Seconds(40));
  clock.saw_final_check(kCell.id, Seconds(10));
  EXPECT_EQ(clock.bound(kCell), Seconds(75));
  EXPECT_TRUE(clock.fits(kCell, Seconds(1000 - 10 - 75)));
  EXPECT_FALSE(clock.fits(kCell, Seconds(1000 - 10 - 74)));
}

TEST(TurnClock, OldTurnsAreForgotten) {
  const auto grid = some_grid();
  TurnClock clock(grid);
  clock.set_end(Seconds(0), Seconds(10000));
  clock.saw_turn(kCell.id, Seconds(90));
  for (int i = 0; i < 32; ++i) clock.saw_turn(kCell.id, Seconds(2));
  EXPECT_EQ(clock.bound(kCell), Seconds(3));
}

TEST(TurnClock, BeforeTheFirstTurnAQuarterOfTheAllocationIsAsked) {
  const auto grid = some_grid();
  TurnClock clock(grid);
  clock.set_end(Seconds(100), Seconds(500));
  EXPECT_EQ(clock.bound(kCell), Seconds(100));
}

TEST(TurnClock, NoBoundIsLongerThanTheTimeouts) {
  auto grid = some_grid();
  TurnClock clock(grid);
  clock.set_end(Seconds(0), Seconds(1e6));
  // Compile and three tool trials, then compile and six trials of the final check; a synthetic model answers at once.
  EXPECT_EQ(clock.bound(kCell), Seconds(120 + 3 * 60 + 120 + 6 * 60));
  grid.models[0].api = jobs::OpenAi{};
  EXPECT_EQ(clock.bound(kCell), Seconds(780 + 600 + 900));
}

}  // namespace
}  // namespace nkigrid::runner
