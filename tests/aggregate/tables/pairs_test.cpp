#include "aggregate/tables/pairs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aggregate/statistics/paired.hpp"
#include "tests/aggregate/made_evidence.hpp"

namespace nkigrid::aggregate {
namespace {

using test::ended, test::join, test::made_run, test::made_tasks, test::number_of;
using testing::ElementsAre, testing::IsEmpty;

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
  const auto pairs = make_pairs(evidence_of(made.run, made.ledger));
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
    for (const auto& row : make_pairs(evidence_of(made.run, made.ledger, {.by = by}))) {
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
  const auto row = make_pairs(evidence_of(made.run, made.ledger, {.by = ScopesBy::category})).at(1);
  EXPECT_EQ(row.tasks, 20u);
  EXPECT_NEAR(*row.difference, (9 - 3) / 20.0,
              1e-12);  // of odd tasks agent passes 3, 5, .. 19 and ss 3, 5, 7
}

TEST(Pairs, BenjaminiHochbergDecidesOnRequest) {
  const auto made = compared_run(1);
  const auto by_holm = make_pairs(evidence_of(made.run, made.ledger)),
             by_bh = make_pairs(evidence_of(made.run, made.ledger, {.adjust = Adjust::bh}));
  EXPECT_FALSE(by_holm[0].p_bh);
  EXPECT_NEAR(*by_bh[0].p_bh, 6.0 / 4 * *by_bh[0].p, 1e-15);  // four rows of six share this p
  EXPECT_EQ(by_bh[0].p_holm, by_holm[0].p_holm);
}

TEST(Pairs, OneReplicateIsMcNemarWithHolmOverAllRows) {
  const auto made = compared_run(1);
  const auto pairs = make_pairs(evidence_of(made.run, made.ledger));
  const auto& all = pairs[0];
  EXPECT_EQ(all.tasks, 40u);
  EXPECT_DOUBLE_EQ(*all.difference, 11.0 / 40);
  EXPECT_EQ(all.test, "mcnemar-mid-p");
  EXPECT_DOUBLE_EQ(*all.p, mcnemar(12, 1, PValue::mid));
  EXPECT_EQ(all.interval->method, "bonett-price");
  // Four rows share this p (all and L1, twice); two L2 rows have p = 1.
  EXPECT_DOUBLE_EQ(*all.p_holm, 6 * *all.p);
  EXPECT_EQ(all.verdict, "a-better");
  EXPECT_EQ(pairs[2].scope, "L2");
  EXPECT_EQ(*pairs[2].p, 1);
  EXPECT_EQ(pairs[2].verdict, "not-separated");
  EXPECT_EQ(pairs[2].interval->method, "bonett-price");
}

TEST(Pairs, SeveralReplicatesAreASignFlipTest) {
  const auto made = compared_run(3);
  const auto pairs = make_pairs(evidence_of(made.run, made.ledger));
  EXPECT_EQ(pairs[0].test, "sign-flip-mid-p");
  EXPECT_NEAR(*pairs[0].p, mcnemar(12, 1, PValue::mid), 1e-14);  // unanimous replicates carry no more than one
}

TEST(Pairs, SwappedSidesMirrorTheRow) {
  auto made = compared_run(1);
  std::swap(made.run.grid.contrasts[0].a, made.run.grid.contrasts[0].b);
  const auto pairs = make_pairs(evidence_of(made.run, made.ledger));
  EXPECT_DOUBLE_EQ(*pairs[0].difference, -11.0 / 40);
  EXPECT_EQ(pairs[0].verdict, "b-better");
}

TEST(Pairs, OutstandingEpisodesLeaveTheRowOpenAndTheFamilyWhole) {
  auto made = compared_run(1);
  made.ledger.ends[0].reset();  // m.ss.naive, first task of L1
  const auto pairs = make_pairs(evidence_of(made.run, made.ledger));
  EXPECT_EQ(pairs[0].outstanding, 1u);
  EXPECT_FALSE(pairs[0].difference);
  EXPECT_FALSE(pairs[0].p_holm);
  EXPECT_EQ(pairs[0].verdict, "");
  EXPECT_TRUE(pairs[2].p);  // L2 is whole
  EXPECT_DOUBLE_EQ(*pairs[3].p_holm, 6 * *pairs[3].p);
  const auto partial = make_pairs(evidence_of(made.run, made.ledger, {.partial = true}));
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
  const auto pairs = make_pairs(evidence_of(made.run, made.ledger));
  ASSERT_EQ(pairs.size(), 5u);  // no L2 row for the naive pair
  EXPECT_EQ(pairs[0].tasks, 24u);
  EXPECT_DOUBLE_EQ(*pairs[0].difference, 11.0 / 24);
}

TEST(Pairs, NoContrastsNoRows) {
  auto made = compared_run(1);
  made.run.grid.contrasts.clear();
  EXPECT_THAT(make_pairs(evidence_of(made.run, made.ledger)), IsEmpty());
}

TEST(Flips, ListTheTasksThatTwoCellsDoNotSolveAlike) {
  const test::MadeEvidence evidence(compared_run(3));
  const auto flips = test::data_rows(evidence, "flips");
  ASSERT_EQ(flips.size(), 2u * 13);
  EXPECT_THAT(flips[0], ElementsAre("m.agent.naive", "m.ss.naive", "L1/002", "0", "3", "3", "3"));
}

}  // namespace
}  // namespace nkigrid::aggregate
