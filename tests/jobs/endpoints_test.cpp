#include "jobs/endpoints.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace nkigrid::jobs {
namespace {

Grid grid_of(std::vector<ModelSpec> models) {
  Grid grid;
  for (const auto& model : models) grid.cells.push_back({.id = model.name + ".s.p", .model = model.name});
  grid.models = std::move(models);
  return grid;
}

ModelApi served_by(const std::string& endpoint, const std::string& key_file = "") {
  OpenAi api;
  api.remote.endpoint = endpoint;
  if (!key_file.empty()) api.remote.key = {.kind = KeySource::Kind::file, .value = key_file};
  return api;
}

TEST(EndpointPart, AnyElementsThatWorkAtOnceKeepToTheLimitAndNoneGetsNothing) {
  for (std::uint32_t limit = 1; limit < 20; ++limit) {
    for (std::uint32_t at_once = 1; at_once <= limit; ++at_once) {
      std::vector<std::uint32_t> parts;
      for (std::uint32_t shard = 0; shard < 2 * at_once + 3; ++shard)
        parts.push_back(EndpointPart{shard, at_once}.of(limit));
      EXPECT_GE(*std::min_element(parts.begin(), parts.end()), 1U);
      std::sort(parts.begin(), parts.end(), std::greater());
      EXPECT_EQ(std::accumulate(parts.begin(), parts.begin() + at_once, 0U), limit)
          << "whichever of the shards work: these have most";
    }
  }
}

TEST(Endpoints, AreModelsOfOneServerAndKeyThatACellUses) {
  auto grid = grid_of({{.name = "a", .api = served_by("http://h"), .concurrency = 4},
                       {.name = "b", .api = served_by("http://h"), .concurrency = 9},
                       {.name = "other-key", .api = served_by("http://h", "k"), .concurrency = 2},
                       {.name = "free", .api = served_by("http://h")},
                       {.name = "unused", .api = served_by("http://h2"), .concurrency = 1}});
  grid.cells.pop_back();
  const auto endpoints = limited_endpoints(grid);
  ASSERT_EQ(endpoints.size(), 2U);
  EXPECT_EQ(endpoints[0].models, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(endpoints[0].concurrency, 9U);
  EXPECT_EQ(endpoints[1].models, (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(most_elements_at_once(grid), 2U);
}

TEST(Endpoints, LowerTheThrottleOnlyWhereItIsAboveThem) {
  const auto grid = grid_of({{.name = "a", .api = OpenAi{}, .concurrency = 4}});
  EXPECT_EQ(throttle_within_limits(grid, 8, 0), 4U);
  EXPECT_EQ(throttle_within_limits(grid, 8, 6), 4U);
  EXPECT_EQ(throttle_within_limits(grid, 8, 3), 3U);
  EXPECT_EQ(throttle_within_limits(grid, 4, 0), 0U);
  EXPECT_EQ(throttle_within_limits(grid_of({{.name = "a", .api = OpenAi{}}}), 8, 0), 0U);
}

}  // namespace
}  // namespace nkigrid::jobs
