#include "jobs/pace.hpp"

#include <gtest/gtest.h>

namespace nkigrid::jobs {
namespace {

Grid grid_with(std::uint32_t concurrency, std::uint32_t throttle) {
  Grid grid;
  grid.models.push_back({.name = "m", .api = OpenAi{}, .concurrency = concurrency});
  grid.cells.push_back({.id = "m.s.p", .model = "m"});
  grid.slurm.throttle = throttle;
  return grid;
}

TEST(Pace, ElementsAtOnceNeverOutnumberTheRequestsOfAnEndpoint) {
  EXPECT_EQ(pace_of(grid_with(4, 0), 8), (Pace{.throttle = 4, .at_once = 4}));
  EXPECT_EQ(pace_of(grid_with(4, 6), 8), (Pace{.throttle = 4, .at_once = 4}));
  EXPECT_EQ(pace_of(grid_with(32, 6), 8), (Pace{.throttle = 6, .at_once = 6}));
  EXPECT_EQ(pace_of(grid_with(32, 0), 8), (Pace{.throttle = 0, .at_once = 8}));
  EXPECT_EQ(pace_of(grid_with(0, 0), 8), (Pace{.throttle = 0, .at_once = 8}));
}

TEST(Pace, FewElementsGetLargeParts) { EXPECT_EQ(pace_of(grid_with(32, 8), 2), (Pace{.throttle = 8, .at_once = 2})); }

TEST(Pace, WhatIsSubmittedBesideLivingElementsKeepsToTheirParts) {
  EXPECT_EQ(pace_of(grid_with(32, 0), 5, {.working = 3, .at_once = 8}), (Pace{.throttle = 0, .at_once = 8}));
  EXPECT_EQ(pace_of(grid_with(32, 8), 7, {.working = 3, .at_once = 8}), (Pace{.throttle = 5, .at_once = 8}))
      << "five are free";
}

TEST(Pace, WaitsWhereLivingElementsHaveAll) {
  EXPECT_TRUE(pace_of(grid_with(32, 0), 5, {.working = 2, .at_once = 2}).after_living);
  EXPECT_TRUE(pace_of(grid_with(0, 2), 5, {.working = 2, .at_once = 2}).after_living);
  EXPECT_TRUE(pace_of(grid_with(32, 0), 5, {.working = 1, .at_once = 0}).after_living) << "their parts are not known";
  EXPECT_FALSE(pace_of(grid_with(0, 0), 5, {.working = 2, .at_once = 2}).after_living) << "nothing is shared";
}

}  // namespace
}  // namespace nkigrid::jobs
