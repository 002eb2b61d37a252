#include "jobs/forecast/forecast.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.hpp"
#include "jobs/make_plan.hpp"

namespace nkigrid::jobs {
namespace {

TEST(Forecast, CountsRequestsAndPricesThem) {
  const Sandbox box;
  box.edit("grid.yaml", "strong: {api: synthetic, profile: strong}",
           "strong: {api: openai, endpoint: \"http://h\", price: {input: 2, output: 10}, max_tokens: 100}");
  const auto grid = load_grid(box.grid(), {});
  const auto benchmark = load_benchmark(grid.benchmark);
  // By hand: prompts of 1 byte a token, replies of 100 (max_tokens), feedback of 50; agent has 4 turns, 4
  // tasks x 2 replicates.
  const TurnPrior prior{.bytes_per_token = 1, .reply_tokens = 1000, .feedback_tokens = 50, .task_text_bytes = 0};
  const auto cells = forecast(grid, benchmark, make_plan(grid, benchmark), prior);
  ASSERT_EQ(cells.size(), 4U);
  EXPECT_EQ(cells[0].requests, 8U);
  EXPECT_FALSE(cells[0].usd);
  double first = 0;
  for (const auto& task : benchmark.tasks)
    first += static_cast<double>(task.source.size() + grid.prompt("careful").text.size());
  EXPECT_EQ(cells[3].cell, "strong.agent.careful");
  EXPECT_EQ(cells[3].requests, 32U);
  EXPECT_DOUBLE_EQ(cells[3].tokens_out, 32 * 100);
  EXPECT_DOUBLE_EQ(cells[3].tokens_in, 2 * 4 * first + 8 * (0 + 150 + 300 + 450));
  EXPECT_DOUBLE_EQ(*cells[3].usd, (cells[3].tokens_in * 2 + 3200 * 10) / 1e6);
}

}  // namespace
}  // namespace nkigrid::jobs
