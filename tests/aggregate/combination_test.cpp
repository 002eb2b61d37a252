#include "aggregate/statistics/combination.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aggregate/statistics/paired.hpp"
#include "aggregate/tables/ablation.hpp"
#include "tests/aggregate/made_run.hpp"

namespace nkigrid::aggregate {
namespace {

using test::ended, test::made_run, test::made_tasks, test::number_of;
using testing::ElementsAre;

// p11, p10, p01, p00 of 60 tasks.
std::vector<std::vector<TaskCount>> square_of_cells() {
  std::vector<std::vector<TaskCount>> cells(4);
  for (std::uint32_t i = 0; i < 60; ++i) {
    cells[0].push_back({(i * i + 3 * i) % 4 > 0, 1, 0});
    cells[1].push_back({i % 5 == 0, 1, 0});
    cells[2].push_back({i % 3 == 0, 1, 0});
    cells[3].push_back({i % 7 == 0, 1, 0});
  }
  return cells;
}

TEST(Combination, InteractionIsNearScipysBootstrapAndPermutationTest) {
  // scipy.stats.bootstrap(BCa, 199999 draws): [-0.1, 0.333333], one lattice step is 1/60; permutation_test: p
  // = 0.37
  const auto cells = square_of_cells();
  const Combination interaction{cells, {1, -1, -1, 1}};
  EXPECT_NEAR(value_of(interaction), 0.11666666666666667, 1e-15);
  const auto interval = combination_interval(interaction, 0.95);
  EXPECT_EQ(interval.method, "bca");
  EXPECT_NEAR(interval.low, -0.1, 1.0 / 60 + 1e-9);
  EXPECT_NEAR(interval.high, 0.333333, 1.0 / 60 + 1e-6);
  EXPECT_NEAR(sign_flip(sample_of(interaction)), 0.37, 0.01);
}

TEST(Combination, DifferenceOfTwoIsTheRuleForDifferences) {
  const auto cells = square_of_cells();
  const auto two = std::span(cells).first(2);
  const auto by_rule = difference_interval(cells[0], cells[1], 0.95),
             combined = combination_interval({two, {1, -1}}, 0.95);
  EXPECT_EQ(by_rule.low, combined.low);
  EXPECT_EQ(by_rule.high, combined.high);
}

TEST(Combination, FewTasksThatDifferAreSquareAndAdd) {
  std::vector<std::vector<TaskCount>> cells(4, std::vector<TaskCount>(20, TaskCount{0, 1, 0}));
  cells[0][0].passed = 1;
  const auto interval = combination_interval({cells, {1, -1, -1, 1}}, 0.95);
  EXPECT_EQ(interval.method, "newcombe");
  // Four Wilson intervals: 1/20 once, 0/20 three times.
  const auto one = wilson(0.05, 20, 0.95), none = wilson(0, 20, 0.95);
  EXPECT_NEAR(interval.low, 0.05 - std::sqrt(std::pow(0.05 - one.low, 2) + 2 * std::pow(none.high, 2)), 1e-12);
  EXPECT_NEAR(interval.high, 0.05 + std::sqrt(std::pow(one.high - 0.05, 2) + std::pow(none.high, 2)), 1e-12);
}

TEST(Combination, MeanOfTwoEffectsHasTheirMean) {
  const auto cells = square_of_cells();
  const Combination mean{cells, {1, -1, 1, -1}, 2};
  EXPECT_NEAR(value_of(mean),
              (mean_score(cells[0]) - mean_score(cells[1]) + mean_score(cells[2]) - mean_score(cells[3])) / 2, 1e-15);
  const auto interval = combination_interval(mean, 0.95);
  EXPECT_LT(interval.low, value_of(mean));
  EXPECT_GT(interval.high, value_of(mean));
}

// Tools help m on tasks 0..19 of 30, and n on 0..9 only; the prompt changes nothing.
test::MadeRun factorial_run() {
  return made_run({"m.ss.p", "m.agent.p", "n.ss.p", "n.agent.p"}, made_tasks("L1", 30), 2, [](const EpisodeId& id) {
    const int i = number_of(id);
    if (id.cell.starts_with("m")) return ended(id.cell == "m.agent.p" ? i < 20 : i < 2);
    return ended(id.cell == "n.agent.p" ? i < 10 : i < 2);
  });
}

TEST(Ablation, EveryValueIsHeldAgainstTheFirstOne) {
  const auto made = factorial_run();
  const auto rows = make_tables(made.run, made.ledger).ablation;
  ASSERT_EQ(rows.size(), 10u);  // models: two modes of two, and their mean; modes likewise
  EXPECT_EQ(rows[0].factor, "model");
  EXPECT_EQ(rows[0].value, "m");
  EXPECT_FALSE(rows[0].difference);
  EXPECT_EQ(rows[1].value, "n");
  EXPECT_EQ(rows[1].context, "ss.p");
  EXPECT_DOUBLE_EQ(*rows[1].difference, 0);
  EXPECT_EQ(rows[3].context, "agent.p");
  EXPECT_NEAR(*rows[3].difference, -10.0 / 30, 1e-15);
  EXPECT_NEAR(*rows[3].relative, -0.5, 1e-15);
  EXPECT_EQ(rows[3].interval->method, "bca");
  EXPECT_EQ(rows[4].context, "mean of 2");
  EXPECT_NEAR(*rows[4].difference, -5.0 / 30, 1e-15);
  EXPECT_EQ(rows[4].tasks, 30u);
}

TEST(Interactions, AreTestedForEveryTwoFactors) {
  const auto made = factorial_run();
  const auto rows = make_tables(made.run, made.ledger).interactions;
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].first, "model: m -> n");
  EXPECT_EQ(rows[0].second, "mode: ss -> agent");
  EXPECT_THAT(rows[0].cells, ElementsAre("m.ss.p", "m.agent.p", "n.ss.p", "n.agent.p"));
  EXPECT_NEAR(*rows[0].difference, -10.0 / 30, 1e-15);
  EXPECT_NEAR(*rows[0].p, std::ldexp(1.0, -9), 1e-15);  // ten tasks, all one way
  EXPECT_EQ(*rows[0].p_holm, *rows[0].p);
  EXPECT_EQ(rows[0].verdict, "sub-additive");
}

TEST(Interactions, OfTheGridsFactorsAlone) {
  auto made = factorial_run();
  made.run.grid.factors = {{"tools", {{"mode", {"agent", "ss"}}}}, {"who", {{"model", {"n", "m"}}}}};
  const auto rows = make_tables(made.run, made.ledger).interactions;
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].first, "mode: agent -> ss");
  EXPECT_THAT(rows[0].cells, ElementsAre("n.agent.p", "m.agent.p", "n.ss.p", "m.ss.p"));
}

TEST(Interactions, OutstandingEpisodesLeaveTheRowOpen) {
  auto made = factorial_run();
  made.ledger.ends[0].reset();
  const auto row = make_tables(made.run, made.ledger).interactions.at(0);
  EXPECT_EQ(row.outstanding, 1u);
  EXPECT_FALSE(row.difference);
  EXPECT_EQ(row.verdict, "");
}

TEST(BenjaminiHochberg, StepsUpAndKeepsTheOrderOfItsInput) {
  // p.adjust(c(.04, .01, .03, .02, .5), "BH") = .05 .05 .05 .05 .5
  EXPECT_THAT(
      benjamini_hochberg(std::vector<double>{0.04, 0.01, 0.03, 0.02, 0.5}, 5),
      ElementsAre(testing::DoubleNear(0.05, 1e-15), testing::DoubleNear(0.05, 1e-15), testing::DoubleNear(0.05, 1e-15),
                  testing::DoubleNear(0.05, 1e-15), testing::DoubleNear(0.5, 1e-15)));
}

}  // namespace
}  // namespace nkigrid::aggregate
