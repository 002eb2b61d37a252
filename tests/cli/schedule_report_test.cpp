#include "cli/schedule_report.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "jobs/grid/grid.hpp"
#include "jobs/make_plan.hpp"

namespace nkigrid::cli {
namespace {

using testing::HasSubstr;

/// What `plan --json` says of time where the cluster's nodes bear `room` elements of any layout.
nlohmann::json schedule_with(std::uint32_t room) {
  const auto grid = jobs::load_grid(NKIGRID_TEST_DATA "/jobs/grid.yaml", {});
  const auto benchmark = jobs::load_benchmark(grid.benchmark);
  ScheduleOptions options;
  options.room = [room](const jobs::Layout&) { return std::optional(room); };
  return nlohmann::json::parse(
      schedule_as_json(make_schedule(grid, benchmark, jobs::make_plan(grid, benchmark), {}, options)));
}

TEST(Schedule, NothingIsRecommendedThatNoNodeBears) {
  const auto none = schedule_with(0);
  EXPECT_TRUE(none.at("recommended").is_null());
  EXPECT_THAT(none.at("reason").get<std::string>(), HasSubstr("bear not one element of this size; lower slurm.nodes"));
  EXPECT_EQ(none.at("layouts").size(), 1u) << "the grid's own is shown";
  EXPECT_EQ(none.at("elements_that_fit"), 0);
  EXPECT_TRUE(schedule_with(1).at("recommended").is_number());
}

}  // namespace
}  // namespace nkigrid::cli
