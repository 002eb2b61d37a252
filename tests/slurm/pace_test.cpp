#include "slurm/pace.hpp"

#include <gtest/gtest.h>

#include "slurm/array_text.hpp"

namespace nkigrid::slurm {
namespace {

jobs::Grid grid_with(std::uint32_t concurrency, std::uint32_t throttle) {
  jobs::Grid grid;
  grid.models.push_back({.name = "m", .api = jobs::OpenAi{}, .concurrency = concurrency});
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

TEST(ArrayText, WritesRangesAndTheThrottle) {
  EXPECT_EQ(array_text({0, 1, 2, 5, 7, 8}, 0), "0-2,5,7-8");
  EXPECT_EQ(array_text({3}, 2), "3%2");
}

TEST(ArrayText, IsReadBack) {
  const std::vector<std::uint32_t> elements = {0, 1, 2, 5, 7, 8};
  EXPECT_EQ(parse_elements(array_text(elements, 4)), elements);
  EXPECT_EQ(count_elements("0-2,5,7-8%4"), 6u);
  EXPECT_EQ(count_elements("0-9999"), 10000u);
  EXPECT_EQ(throttle_of("0-2%4"), 4u);
  EXPECT_EQ(throttle_of("0-2"), 0u);
  EXPECT_TRUE(parse_elements("").empty());
  EXPECT_EQ(parse_elements("3,x,5"), std::vector<std::uint32_t>{3});
}

}  // namespace
}  // namespace nkigrid::slurm
