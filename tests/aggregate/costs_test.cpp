#include "aggregate/tables/costs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aggregate/layout/render.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "tests/aggregate/made_run.hpp"

namespace nkigrid::aggregate {
namespace {

using test::Ended, test::made_run, test::made_tasks, test::number_of;
using testing::Contains, testing::HasSubstr, testing::Pair;

/// A log by hand: every turn is 100 tokens in, 20 out, 0.001 USD, 0.5 s.
struct LoggedRun {
  TemporaryDirectory folder;
  jobs::Run run;
  log::Ledger ledger;

  explicit LoggedRun(const std::function<std::optional<Ended>(const EpisodeId&)>& how) {
    run = made_run({"m.ss.p", "m.agent.p"}, made_tasks("L1", 20), 2, [](const auto&) { return std::nullopt; }).run;
    run.folder = folder.path();
    test::write_log(run.log_folder(), "one", run.plan, how);
    ledger = log::read_ledger(run);
  }
};

// The agent takes three turns and passes 12 of 20 tasks; single shot passes 8.
std::optional<Ended> usual(const EpisodeId& id) {
  const bool agent = id.cell == "m.agent.p";
  const bool pass = number_of(id) < (agent ? 12 : 8);
  return Ended{
      .outcome = pass ? Outcome::pass : Outcome::compile_fail, .turns = agent ? 3u : 1u, .code = Code::partition_limit};
}

TEST(Costs, AreSumsOverTurnsForEachPass) {
  const LoggedRun logged(usual);
  const auto facts = read_turn_facts(logged.run, logged.ledger);
  const auto rows = make_tables(logged.run, logged.ledger, {}, &facts).costs;
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].tokens_in, 4000u);
  EXPECT_EQ(rows[0].tokens_out, 800u);
  EXPECT_NEAR(*rows[0].usd_per_pass, 40 * 0.001 / 16, 1e-12);
  EXPECT_NEAR(*rows[0].tokens_per_pass, 40 * 120.0 / 16, 1e-12);
  EXPECT_NEAR(*rows[0].tokens_per_s, 40, 1e-12);
  EXPECT_NEAR(*rows[1].usd_per_pass, 120 * 0.001 / 24, 1e-12);
  EXPECT_DOUBLE_EQ(*rows[0].relative, 1);
  EXPECT_NEAR(*rows[1].relative, 2, 1e-12);
  ASSERT_TRUE(rows[1].relative_interval && rows[1].usd_per_pass_interval);
  EXPECT_EQ(rows[1].usd_per_pass_interval->method, "bca-drawn");
  EXPECT_LT(rows[1].usd_per_pass_interval->low, *rows[1].usd_per_pass);
  EXPECT_GT(rows[1].usd_per_pass_interval->high, *rows[1].usd_per_pass);
}

TEST(Costs, AreRelativeToTheChosenCell) {
  const LoggedRun logged(usual);
  const auto facts = read_turn_facts(logged.run, logged.ledger);
  const auto rows = make_tables(logged.run, logged.ledger, {.baseline = "m.agent.p"}, &facts).costs;
  EXPECT_NEAR(*rows[0].relative, 0.5, 1e-12);
  EXPECT_EQ(rows[0].relative_unit, "usd");
  try {
    make_tables(logged.run, logged.ledger, {.baseline = "m.agnt.p"}, &facts);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'm.agent.p'?"));
  }
}

TEST(Costs, TurnsThatDamageTookAreWarnedOf) {
  const LoggedRun logged(usual);
  const auto journal = logged.run.log_folder() / "one.journal";
  auto bytes = read_file(journal);
  for (const auto* of : {"kernel m.ss.p/", "kernel m.agent.p/"})
    bytes[bytes.find(of)] = 'K';  // the first turn of an episode each
  write_file_atomic(journal, bytes);
  const auto ledger = log::read_ledger(logged.run);
  const auto facts = read_turn_facts(logged.run, ledger);
  EXPECT_EQ(facts.episodes_lacking_turns, 2u);
  EXPECT_THAT(make_tables(logged.run, ledger, {}, &facts).warnings,
              Contains(HasSubstr("damage took turns of 2 scored episodes")));
  const LoggedRun whole(usual);
  EXPECT_EQ(read_turn_facts(whole.run, whole.ledger).episodes_lacking_turns, 0u);
}

TEST(Costs, OfAttemptsThatDoNotCountAreApart) {
  const LoggedRun logged(usual);
  // An earlier attempt of every single-shot episode died after two turns.
  test::write_log(logged.run.log_folder(), "dead", logged.run.plan, [](const EpisodeId& id) -> std::optional<Ended> {
    if (id.cell != "m.ss.p") return std::nullopt;
    return Ended{.outcome = Outcome::api_error, .attempt = 2, .turns = 2};
  });
  const auto ledger = log::read_ledger(logged.run);
  const auto facts = read_turn_facts(logged.run, ledger);
  const auto row = make_tables(logged.run, ledger, {}, &facts).costs[0];
  EXPECT_EQ(row.tokens_in, 4000u);
  EXPECT_EQ(row.uncounted_tokens, 40u * 2 * 120);
  EXPECT_NEAR(row.uncounted_usd, 0.08, 1e-12);
}

TEST(Costs, OfNoPassAreUnknown) {
  const LoggedRun logged([](const auto&) { return Ended{.outcome = Outcome::mismatch}; });
  const auto facts = read_turn_facts(logged.run, logged.ledger);
  const auto row = make_tables(logged.run, logged.ledger, {}, &facts).costs[0];
  EXPECT_FALSE(row.usd_per_pass);
  EXPECT_FALSE(row.relative);
  EXPECT_NEAR(*row.usd, 0.04, 1e-12);
}

TEST(Transitions, HoldTheFirstErrorAgainstTheLast) {
  const LoggedRun logged(usual);
  const auto facts = read_turn_facts(logged.run, logged.ledger);
  const auto breakdown = make_tables(logged.run, logged.ledger, {}, &facts).breakdowns[1];
  EXPECT_THAT(breakdown.first_to_last, Contains(Pair(std::pair("TILE_LIMIT", "pass"), 24u)));
  EXPECT_THAT(breakdown.first_to_last, Contains(Pair(std::pair("TILE_LIMIT", "TILE_LIMIT"), 16u)));
  EXPECT_THAT(breakdown.open_by_turn, testing::ElementsAre(40u, 40u, 40u));
  const auto single = make_tables(logged.run, logged.ledger, {}, &facts).breakdowns[0];
  EXPECT_THAT(single.first_to_last, Contains(Pair(std::pair("none", "pass"), 16u)));
  EXPECT_THAT(single.open_by_turn, testing::ElementsAre(40u, 0u, 0u));
}

TEST(Rules, CountFlipsBetweenThem) {
  const LoggedRun logged([](const EpisodeId& id) {
    const int i = number_of(id);
    return Ended{.outcome = i < 6 ? Outcome::pass : Outcome::mismatch,
                 .strict = i < 4,
                 .best_passed = static_cast<std::int8_t>(i < 9)};
  });
  const auto row = make_tables(logged.run, logged.ledger).rules[0];
  EXPECT_EQ(row.scored, 40u);
  EXPECT_EQ(row.paper, 12u);
  EXPECT_EQ(row.strict, 8u);
  EXPECT_EQ(row.best, 18u);
  EXPECT_EQ(row.paper_not_strict, 4u);
  EXPECT_EQ(row.best_not_paper, 6u);
  EXPECT_EQ(row.paper_not_best, 0u);
}

TEST(Methods, PoolCheckpointsOfOneMethod) {
  auto made =
      made_run({"base.ss.p", "g1.ss.p", "g2.ss.p", "g3.ss.p"}, made_tasks("L1", 20), 2, [](const EpisodeId& id) {
        const int more = id.cell[0] == 'b' ? 0 : id.cell[1] - '0';
        return test::ended((number_of(id) * 7 + static_cast<int>(id.replicate)) % 20 < 6 + more);
      });
  for (auto& model : made.run.grid.models) {
    if (model.name != "base") model.method = "grpo";
  }
  const auto tables = make_tables(made.run, made.ledger);
  ASSERT_EQ(tables.methods.size(), 2u);
  EXPECT_EQ(tables.methods[0].method, "base");
  EXPECT_FALSE(tables.methods[0].interval);  // one checkpoint says nothing of others
  EXPECT_EQ(tables.methods[1].cells.size(), 3u);
  EXPECT_NEAR(*tables.methods[1].rate, 0.4, 1e-12);
  EXPECT_NEAR(*tables.methods[1].between_checkpoints, 0.05, 1e-12);
  ASSERT_EQ(tables.method_pairs.size(), 1u);
  EXPECT_NEAR(*tables.method_pairs[0].difference, 0.1, 1e-12);
  EXPECT_EQ(tables.method_pairs[0].test, "checkpoint-t");
  made.run.grid.models[1].method.reset();
  made.run.grid.models[2].method.reset();
  made.run.grid.models[3].method.reset();
  EXPECT_TRUE(make_tables(made.run, made.ledger).methods.empty());
}

TEST(EveryTable, HasEveryFormat) {
  const LoggedRun logged(usual);
  const auto facts = read_turn_facts(logged.run, logged.ledger);
  auto run = logged.run;
  run.grid.contrasts = {{"tools", {{"mode", "agent"}}, {{"mode", "ss"}}, {"all"}}};
  run.grid.models[0].method = "only";
  const auto tables = make_tables(run, logged.ledger, {.adjust = Adjust::bh}, &facts);
  for (const auto name : parse_table_name("all")) {
    for (const auto format : {Format::text, Format::markdown, Format::latex, Format::csv})
      EXPECT_FALSE(render(tables, {name}, format).empty()) << to_string(name);
  }
  EXPECT_THAT(render(tables, {TableName::pairs}, Format::text), HasSubstr("p BH"));
  EXPECT_THAT(render(tables, {TableName::cost}, Format::latex), HasSubstr("\\toprule"));
  EXPECT_THAT(render(tables, parse_table_name("all"), Format::json), HasSubstr("\"best_not_paper\""));
}

}  // namespace
}  // namespace nkigrid::aggregate
