#include "aggregate/statistics/relative.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "aggregate/layout/render.hpp"
#include "aggregate/tables/ablation.hpp"
#include "tests/aggregate/made_run.hpp"

namespace nkigrid::aggregate {
namespace {

using test::ended, test::made_run, test::made_tasks, test::number_of;
using testing::HasSubstr;

// A value and a baseline of 60 tasks, three replicates each; `first` of them in one level, the others in another.
std::vector<std::vector<TaskCount>> two_cells(std::uint32_t first) {
  std::vector<std::vector<TaskCount>> cells(2);
  for (std::uint32_t i = 0; i < 60; ++i) {
    const std::uint32_t level = i < first ? 0 : 1;
    cells[0].push_back({(i * i + 3 * i) % 4, 3, level});
    cells[1].push_back({(5 * i + i / 7) % 3, 3, level});
  }
  return cells;
}

RelativeChange change_of(const std::vector<std::vector<TaskCount>>& cells, const Drawing& drawing = {}) {
  return relative_change({cells, {1, -1}}, 0.95, 11, drawing);
}

TEST(RelativeChange, IsNearScipysPairedBootstrap) {
  // scipy.stats.bootstrap((value, baseline), sum ratio - 1, paired, BCa, 99999 draws): [-0.192982, 0.684211]; with 9999
  // draws and three seeds its ends lie in [-0.194, -0.178] and [0.659, 0.682].
  const auto result = change_of(two_cells(60), {.draws = 99999});
  EXPECT_NEAR(*result.change, 20.0 / 17 - 1, 1e-15);
  ASSERT_TRUE(result.interval);
  EXPECT_EQ(result.interval->method, "bca-drawn");
  EXPECT_EQ(result.reason, "");
  EXPECT_NEAR(result.interval->low, -0.192982, 0.01);
  EXPECT_NEAR(result.interval->high, 0.684211, 0.02);
}

TEST(RelativeChange, WithinLevelsIsNearNumpys) {
  // 400,000 draws of numpy's PCG64 within the levels of 25 and 35 tasks, BCa by hand: [-0.192308, 0.684211]
  const auto result = change_of(two_cells(25), {.draws = 99999});
  ASSERT_TRUE(result.interval);
  EXPECT_NEAR(result.interval->low, -0.192308, 0.01);
  EXPECT_NEAR(result.interval->high, 0.684211, 0.02);
}

TEST(RelativeChange, IsTheSameBitsOnAnyNumberOfThreads) {
  const auto one = change_of(two_cells(25), {.threads = 1});
  EXPECT_DOUBLE_EQ(one.interval->low, -1.0 / 5);  // as drawn on the day this was written
  EXPECT_DOUBLE_EQ(one.interval->high, 2.0 / 3);
  for (const unsigned threads : {2u, 3u, 8u}) {
    const auto many = change_of(two_cells(25), {.threads = threads});
    EXPECT_EQ(one.interval->low, many.interval->low);
    EXPECT_EQ(one.interval->high, many.interval->high);
  }
}

TEST(RelativeChange, MeanOverTwoEqualContextsIsTheChangeOfOne) {
  auto cells = two_cells(25);
  const auto one = change_of(cells);
  cells.insert(cells.end(), {cells[0], cells[1]});
  const auto mean = relative_change({cells, {1, -1, 1, -1}, 2}, 0.95, 11);
  EXPECT_NEAR(*mean.change, *one.change, 1e-15);
  EXPECT_NEAR(mean.interval->low, one.interval->low, 1e-12);
  EXPECT_NEAR(mean.interval->high, one.interval->high, 1e-12);
}

std::vector<std::vector<TaskCount>> first_tasks(std::uint32_t value, std::uint32_t baseline) {
  std::vector<std::vector<TaskCount>> cells(2);
  for (std::uint32_t i = 0; i < 40; ++i) {
    cells[0].push_back({i < value ? 1u : 0u, 1, 0});
    cells[1].push_back({i < baseline ? 1u : 0u, 1, 0});
  }
  return cells;
}

TEST(RelativeChange, SaysWhyThereIsNoInterval) {
  const auto reason = [](std::uint32_t value, std::uint32_t baseline) {
    return change_of(first_tasks(value, baseline)).reason;
  };
  EXPECT_EQ(reason(20, 0), "baseline never passes");
  EXPECT_EQ(reason(20, 5), "few baseline passes");
  EXPECT_EQ(reason(5, 20), "few passes");
  EXPECT_EQ(reason(20, 15), "few differences");
  EXPECT_EQ(reason(20, 6), "");
  EXPECT_FALSE(change_of(first_tasks(20, 0)).change);
  EXPECT_NEAR(*change_of(first_tasks(20, 5)).change, 3, 1e-15);
  EXPECT_EQ(change_of(first_tasks(20, 6), {.draws = 0}).reason, "not drawn");
}

TEST(RelativeChange, OfCountsIsTheRootOfTheSquareAndAddInterval) {
  // scipy.optimize.brentq on (p1 - R p2) -+ sqrt(own^2 + R^2 other^2) = 0, Wilson ends
  const struct {
    int passed, baseline, n;
    double low, high;
  } rows[] = {{26, 31, 150, -0.473158379, 0.334472143},
              {10, 15, 60, -0.669089932, 0.337643934},
              {9, 5, 60, -0.335353417, 3.858934814},
              {116, 9, 150, 5.955218750, 23.336044834},
              {0, 6, 60, -1, -0.288542641},
              {60, 5, 60, 4.515758949, 26.685142827}};
  for (const auto& row : rows) {
    const auto result = relative_change(row.passed / static_cast<double>(row.n), row.n,
                                        row.baseline / static_cast<double>(row.n), row.n, 0.95);
    ASSERT_TRUE(result.interval) << row.passed;
    EXPECT_EQ(result.interval->method, "mover-r");
    EXPECT_NEAR(result.interval->low, row.low, 1e-8) << row.passed;
    EXPECT_NEAR(result.interval->high, row.high, 1e-7) << row.passed;
  }
  EXPECT_EQ(relative_change(0.5, 60, 0, 60, 0.95).reason, "baseline never passes");
}

// 18 of 40 tasks in ss; the agent solves 30 of them, and m passes where n never does.
Tables ablated() {
  const auto made = made_run({"m.ss.p", "m.agent.p", "n.agent.p"}, made_tasks("L1", 40), 2, [](const EpisodeId& id) {
    if (id.cell == "n.agent.p") return ended(false);
    return ended(number_of(id) < (id.cell == "m.ss.p" ? 18 : 30));
  });
  return make_tables(made.run, made.ledger);
}

TEST(RelativeChange, StandsInEveryFormatOfTheAblation) {
  const auto tables = ablated();
  const auto document = nlohmann::json::parse(render(tables, {TableName::ablation}, Format::json));
  const auto row_of = [&](const std::string& value, const std::string& baseline) {
    for (const auto& row : document["ablation"]) {
      if (row["value"] == value && row["baseline"] == baseline) return row;
    }
    return nlohmann::json();
  };
  const auto agent = row_of("agent", "ss");
  EXPECT_NEAR(agent["relative"].get<double>(), 0.666667, 1e-6);
  EXPECT_EQ(agent["relative_method"], "bca-drawn");
  EXPECT_LT(agent["relative_low"].get<double>(), 0.666667);
  EXPECT_GT(agent["relative_high"].get<double>(), 0.666667);
  EXPECT_TRUE(agent["relative_reason"].is_null());
  const auto n = row_of("n", "m");
  EXPECT_EQ(n["relative"], -1.0);
  EXPECT_TRUE(n["relative_low"].is_null());
  EXPECT_EQ(n["relative_reason"], "few passes");
  const auto low = fmt::format("[{:.1f}, ", 100 * agent["relative_low"].get<double>());
  for (const auto format : {Format::text, Format::markdown, Format::latex}) {
    const auto text = render(tables, {TableName::ablation}, format);
    EXPECT_THAT(text, HasSubstr(low));
    EXPECT_THAT(text, HasSubstr("none: few passes"));
    EXPECT_THAT(text, HasSubstr("bca-drawn"));
  }
  EXPECT_THAT(render(tables, {TableName::ablation}, Format::csv), HasSubstr(",bca-drawn,"));
}

}  // namespace
}  // namespace nkigrid::aggregate
