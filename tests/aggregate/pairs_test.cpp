#include "aggregate/tables/pairs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "aggregate/statistics/paired.hpp"
#include "tests/aggregate/made_run.hpp"

namespace nkigrid::aggregate {
namespace {

using test::ended, test::join, test::made_run, test::made_tasks, test::number_of;
using testing::DoubleNear, testing::ElementsAre, testing::IsEmpty;

TEST(McNemar, MeetsTheReferenceAtBothEndsOfThePairing) {
  std::ifstream file(NKIGRID_TEST_DATA "/aggregate/reference_intervals.json");
  const auto reference = nlohmann::json::parse(file);
  for (const auto& row : reference["differences"]) {
    const int more = std::abs(row["a"][0].get<int>() - row["b"][0].get<int>());
    for (const int end : {0, 1}) {
      const int discordant = row["discordant"][static_cast<std::size_t>(end)], fewer = (discordant - more) / 2;
      // The least discordance has the smaller p.
      EXPECT_NEAR(mcnemar_exact(static_cast<std::uint64_t>(fewer + more), static_cast<std::uint64_t>(fewer)),
                  row["mcnemar_p"][static_cast<std::size_t>(end)].get<double>(), 1e-6)
          << row["name"];
    }
  }
}

TEST(McNemar, NothingDiscordantIsNoEvidence) { EXPECT_EQ(mcnemar_exact(0, 0), 1); }

// All 2^m sign patterns, one by one.
double sign_flip_by_enumeration(const std::vector<std::int64_t>& values) {
  std::int64_t observed = 0;
  for (const auto value : values) observed += value;
  std::uint64_t reached = 0;
  for (std::uint64_t pattern = 0; pattern < std::uint64_t{1} << values.size(); ++pattern) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += pattern >> i & 1 ? values[i] : -values[i];
    reached += std::abs(sum) >= std::abs(observed);
  }
  return static_cast<double>(reached) / static_cast<double>(std::uint64_t{1} << values.size());
}

TEST(SignFlip, EqualsTheCountOverAllPatterns) {
  for (std::int64_t seed = 1; seed < 60; ++seed) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < 11; ++i) values.push_back((seed * (i + 3) * (i + 7) + seed) % 7 - 2);
    EXPECT_NEAR(sign_flip({3, {values}}), sign_flip_by_enumeration(values), 1e-14) << seed;
  }
}

TEST(SignFlip, IsMcNemarForOneReplicate) {
  std::vector<std::int64_t> values(50, 0);
  std::fill_n(values.begin(), 13, 1);
  std::fill_n(values.begin() + 13, 4, -1);
  EXPECT_NEAR(sign_flip({1, {values}}), mcnemar_exact(13, 4), 1e-14);
}

TEST(SignFlip, NeverReachesZero) {
  EXPECT_DOUBLE_EQ(sign_flip({1, {std::vector<std::int64_t>(150, 1)}}), std::ldexp(1.0, -149));
  EXPECT_EQ(sign_flip({1, {{0, 0, 0}}}), 1);
}

TEST(Holm, StepsDownAndKeepsTheOrderOfItsInput) {
  // As R: p.adjust(c(.04, .01, .03, .02), "holm") = .06 .04 .06 .06
  EXPECT_THAT(
      holm(std::vector<double>{0.04, 0.01, 0.03, 0.02}, 4),
      ElementsAre(DoubleNear(0.06, 1e-15), DoubleNear(0.04, 1e-15), DoubleNear(0.06, 1e-15), DoubleNear(0.06, 1e-15)));
  EXPECT_THAT(holm(std::vector<double>{0.4, 0.5}, 2), ElementsAre(0.8, 0.8));
  EXPECT_THAT(holm(std::vector<double>{0.01}, 3), ElementsAre(DoubleNear(0.03, 1e-15)));
}

// agent beats ss on 12 of 40 tasks and loses on one; the prompt changes nothing.
test::MadeRun compared_run(std::uint32_t replicates) {
  auto made = made_run({"m.ss.naive", "m.ss.aware", "m.agent.naive", "m.agent.aware"},
                       join(made_tasks("L1", 24), made_tasks("L2", 16)), replicates, [](const EpisodeId& id) {
                         const bool agent = id.cell.starts_with("m.agent"), second = id.task.starts_with("L2");
                         const int i = number_of(id) + (second ? 24 : 0);
                         return ended(agent ? i >= 3 && i < 20 : i >= 2 && i < 8);
                       });
  made.run.grid.contrasts = {{"tools", {{"mode", "agent"}}, {{"mode", "ss"}}, {"all", "L1", "L2"}}};
  return made;
}

TEST(Pairs, CompareCellsThatAgreeElsewhereInEachScope) {
  const auto made = compared_run(1);
  const auto pairs = make_tables(made.run, made.ledger).pairs;
  ASSERT_EQ(pairs.size(), 6u);
  EXPECT_EQ(pairs[0].a, "m.agent.naive");
  EXPECT_EQ(pairs[0].b, "m.ss.naive");
  EXPECT_EQ(pairs[0].contrast, "tools");
  EXPECT_EQ(pairs[0].scope, "all");
  EXPECT_EQ(pairs[1].scope, "L1");
  EXPECT_EQ(pairs[3].b, "m.ss.aware");
}

TEST(Pairs, AreTestedByLevelOrCategoryOnRequest) {
  auto made = compared_run(1);
  made.run.grid.contrasts[0].scope = {"all"};
  const auto scopes = [&](ScopesBy by) {
    std::vector<std::string> names;
    for (const auto& row : make_tables(made.run, made.ledger, {.by = by}).pairs) {
      if (row.b == "m.ss.naive") names.push_back(row.scope);
    }
    return names;
  };
  EXPECT_THAT(scopes(ScopesBy::contrast), ElementsAre("all"));
  EXPECT_THAT(scopes(ScopesBy::level), ElementsAre("all", "L1", "L2"));
  EXPECT_THAT(scopes(ScopesBy::category), ElementsAre("all", "matmul", "unary"));
  made.run.grid.contrasts[0].scope = {"category:unary", "all"};
  EXPECT_THAT(scopes(ScopesBy::contrast), ElementsAre("unary", "all"));
  EXPECT_THAT(scopes(ScopesBy::category), ElementsAre("unary", "all", "matmul")) << "each once";
  made.run.grid.contrasts[0].scope = {"all"};
  const auto row = make_tables(made.run, made.ledger, {.by = ScopesBy::category}).pairs.at(1);
  EXPECT_EQ(row.tasks, 20u);
  EXPECT_NEAR(*row.difference, (9 - 3) / 20.0,
              1e-12);  // of odd tasks agent passes 3, 5, .. 19 and ss 3, 5, 7
}

TEST(Pairs, BenjaminiHochbergDecidesOnRequest) {
  const auto made = compared_run(1);
  const auto by_holm = make_tables(made.run, made.ledger).pairs,
             by_bh = make_tables(made.run, made.ledger, {.adjust = Adjust::bh}).pairs;
  EXPECT_FALSE(by_holm[0].p_bh);
  EXPECT_NEAR(*by_bh[0].p_bh, 6.0 / 4 * *by_bh[0].p, 1e-15);  // four rows of six share this p
  EXPECT_EQ(by_bh[0].p_holm, by_holm[0].p_holm);
}

TEST(Flips, ListTheTasksThatTwoCellsDoNotSolveAlike) {
  const auto made = compared_run(3);
  const auto flips = make_tables(made.run, made.ledger).flips;
  ASSERT_EQ(flips.size(), 2u * 13);
  EXPECT_EQ(flips[0].a, "m.agent.naive");
  EXPECT_EQ(flips[0].b, "m.ss.naive");
  EXPECT_EQ(flips[0].task, "L1/002");
  EXPECT_EQ(flips[0].in_a.passed, 0u);
  EXPECT_EQ(flips[0].in_b.passed, 3u);
}

TEST(Pairs, OneReplicateIsMcNemarWithHolmOverAllRows) {
  const auto made = compared_run(1);
  const auto pairs = make_tables(made.run, made.ledger).pairs;
  const auto& all = pairs[0];
  EXPECT_EQ(all.tasks, 40u);
  EXPECT_DOUBLE_EQ(*all.difference, 11.0 / 40);
  EXPECT_EQ(all.test, "mcnemar-exact");
  EXPECT_DOUBLE_EQ(*all.p, mcnemar_exact(12, 1));
  EXPECT_EQ(all.interval->method, "bca");
  // Four rows share this p (all and L1, twice); two L2 rows have p = 1.
  EXPECT_DOUBLE_EQ(*all.p_holm, 6 * *all.p);
  EXPECT_EQ(all.verdict, "a-better");
  EXPECT_EQ(pairs[2].scope, "L2");
  EXPECT_EQ(*pairs[2].p, 1);
  EXPECT_EQ(pairs[2].verdict, "not-separated");
  EXPECT_EQ(pairs[2].interval->method, "newcombe");
}

TEST(Pairs, SeveralReplicatesAreASignFlipTest) {
  const auto made = compared_run(3);
  const auto pairs = make_tables(made.run, made.ledger).pairs;
  EXPECT_EQ(pairs[0].test, "sign-flip");
  EXPECT_NEAR(*pairs[0].p, mcnemar_exact(12, 1), 1e-14);  // unanimous replicates carry no more than one
}

TEST(Pairs, SwappedSidesMirrorTheRow) {
  auto made = compared_run(1);
  std::swap(made.run.grid.contrasts[0].a, made.run.grid.contrasts[0].b);
  const auto pairs = make_tables(made.run, made.ledger).pairs;
  EXPECT_DOUBLE_EQ(*pairs[0].difference, -11.0 / 40);
  EXPECT_EQ(pairs[0].verdict, "b-better");
}

TEST(Pairs, OutstandingEpisodesLeaveTheRowOpenAndTheFamilyWhole) {
  auto made = compared_run(1);
  made.ledger.ends[0].reset();  // m.ss.naive, first task of L1
  const auto pairs = make_tables(made.run, made.ledger).pairs;
  EXPECT_EQ(pairs[0].outstanding, 1u);
  EXPECT_FALSE(pairs[0].difference);
  EXPECT_FALSE(pairs[0].p_holm);
  EXPECT_EQ(pairs[0].verdict, "");
  EXPECT_TRUE(pairs[2].p);  // L2 is whole
  EXPECT_DOUBLE_EQ(*pairs[3].p_holm, 6 * *pairs[3].p);
  const auto partial = make_tables(made.run, made.ledger, {.partial = true}).pairs;
  EXPECT_EQ(partial[0].tasks, 40u);
  EXPECT_DOUBLE_EQ(*partial[0].difference, 11.0 / 39);
}

TEST(Pairs, UseTheTasksThatBothCellsHave) {
  auto made = compared_run(1);
  auto& plan = made.run.plan;
  for (std::size_t i = plan.episodes.size(); i-- > 0;) {  // ss.naive keeps L1 only
    if (plan.episodes[i].cell != 0 || plan.tasks[plan.episodes[i].task].level != "L2") continue;
    plan.episodes.erase(plan.episodes.begin() + static_cast<std::ptrdiff_t>(i));
    made.ledger.ends.erase(made.ledger.ends.begin() + static_cast<std::ptrdiff_t>(i));
  }
  const auto pairs = make_tables(made.run, made.ledger).pairs;
  ASSERT_EQ(pairs.size(), 5u);  // no L2 row for the naive pair
  EXPECT_EQ(pairs[0].tasks, 24u);
  EXPECT_DOUBLE_EQ(*pairs[0].difference, 11.0 / 24);
}

TEST(Pairs, NoContrastsNoRows) {
  auto made = compared_run(1);
  made.run.grid.contrasts.clear();
  EXPECT_THAT(make_tables(made.run, made.ledger).pairs, IsEmpty());
}

}  // namespace
}  // namespace nkigrid::aggregate
