#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "aggregate/tables/ablation.hpp"
#include "aggregate/tables/interactions.hpp"
#include "tests/aggregate/made_evidence.hpp"

namespace nkigrid::aggregate {
namespace {

using test::ended, test::made_run, test::made_tasks, test::number_of;
using testing::ElementsAre, testing::HasSubstr;

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
  const auto rows = make_ablation(evidence_of(made.run, made.ledger));
  ASSERT_EQ(rows.size(), 10u);  // models: two modes of two, and their mean; modes likewise
  EXPECT_EQ(rows[0].factor, "model");
  EXPECT_EQ(rows[0].value, "m");
  EXPECT_FALSE(rows[0].difference);
  EXPECT_EQ(rows[1].value, "n");
  EXPECT_EQ(rows[1].context, "ss.p");
  EXPECT_DOUBLE_EQ(*rows[1].difference, 0);
  EXPECT_EQ(rows[3].context, "agent.p");
  EXPECT_NEAR(*rows[3].difference, -10.0 / 30, 1e-15);
  EXPECT_NEAR(*rows[3].relative.change, -0.5, 1e-15);
  EXPECT_EQ(rows[3].interval->method, "bonett-price");
  EXPECT_EQ(rows[4].context, "mean of 2");
  EXPECT_NEAR(*rows[4].difference, -5.0 / 30, 1e-15);
  EXPECT_EQ(rows[4].tasks, 30u);
}

TEST(Interactions, AreTestedForEveryTwoFactors) {
  const auto made = factorial_run();
  const auto rows = make_interactions(evidence_of(made.run, made.ledger));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].first, "model: m -> n");
  EXPECT_EQ(rows[0].second, "mode: ss -> agent");
  EXPECT_THAT(rows[0].cells, ElementsAre("m.ss.p", "m.agent.p", "n.ss.p", "n.agent.p"));
  EXPECT_NEAR(*rows[0].difference, -10.0 / 30, 1e-15);
  EXPECT_NEAR(*rows[0].p, std::ldexp(1.0, -10), 1e-15);  // ten tasks, all one way: half of 2/2^10
  EXPECT_EQ(*rows[0].p_holm, *rows[0].p);
  EXPECT_EQ(rows[0].verdict, "sub-additive");
}

TEST(Interactions, OfTheGridsFactorsAlone) {
  auto made = factorial_run();
  made.run.grid.factors = {{"tools", {{"mode", {"agent", "ss"}}}}, {"who", {{"model", {"n", "m"}}}}};
  const auto rows = make_interactions(evidence_of(made.run, made.ledger));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].first, "mode: agent -> ss");
  EXPECT_THAT(rows[0].cells, ElementsAre("n.agent.p", "m.agent.p", "n.ss.p", "m.ss.p"));
}

TEST(Interactions, OutstandingEpisodesLeaveTheRowOpen) {
  auto made = factorial_run();
  made.ledger.ends[0].reset();
  const auto row = make_interactions(evidence_of(made.run, made.ledger)).at(0);
  EXPECT_EQ(row.outstanding, 1u);
  EXPECT_FALSE(row.difference);
  EXPECT_EQ(row.verdict, "");
}

// 18 of 40 tasks in ss; the agent solves 30 of them, and m passes where n never does.
test::MadeEvidence ablated() {
  return made_run({"m.ss.p", "m.agent.p", "n.agent.p"}, made_tasks("L1", 40), 2, [](const EpisodeId& id) {
    if (id.cell == "n.agent.p") return ended(false);
    return ended(number_of(id) < (id.cell == "m.ss.p" ? 18 : 30));
  });
}

TEST(RelativeChange, StandsInEveryFormatOfTheAblation) {
  const auto evidence = ablated();
  const auto document = nlohmann::json::parse(test::printed(evidence, {"ablation"}, Format::json));
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
    const auto text = test::printed(evidence, {"ablation"}, format);
    EXPECT_THAT(text, HasSubstr(low));
    EXPECT_THAT(text, HasSubstr("none: few passes"));
    EXPECT_THAT(text, HasSubstr("bca-drawn"));
  }
  EXPECT_THAT(test::printed(evidence, {"ablation"}, Format::csv), HasSubstr(",bca-drawn,"));
}

}  // namespace
}  // namespace nkigrid::aggregate
