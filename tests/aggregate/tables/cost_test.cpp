#include "aggregate/tables/cost.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aggregate/tables/registry.hpp"
#include "aggregate/tables/warnings.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "tests/aggregate/logged_run.hpp"

namespace nkigrid::aggregate {
namespace {

using test::Ended, test::LoggedRun, test::usual_end;
using testing::Contains, testing::HasSubstr;

TEST(Costs, AreSumsOverTurnsForEachPass) {
  const LoggedRun logged(usual_end);
  const auto facts = read_turn_facts(logged.run, logged.ledger);
  const auto rows = make_costs(evidence_of(logged.run, logged.ledger, {}, &facts));
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
  const LoggedRun logged(usual_end);
  const auto facts = read_turn_facts(logged.run, logged.ledger);
  const auto rows = make_costs(evidence_of(logged.run, logged.ledger, {.relative_to = "m.agent.p"}, &facts));
  EXPECT_NEAR(*rows[0].relative, 0.5, 1e-12);
  EXPECT_EQ(rows[0].relative_unit, "usd");
  try {
    check_options(evidence_of(logged.run, logged.ledger, {.relative_to = "m.agnt.p"}, &facts));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'm.agent.p'?"));
  }
}

TEST(Costs, TurnsThatDamageTookAreWarnedOf) {
  const LoggedRun logged(usual_end);
  const auto journal = logged.run.log_folder() / "one.journal";
  auto bytes = read_file(journal);
  for (const auto* of : {"kernel m.ss.p/", "kernel m.agent.p/"})
    bytes[bytes.find(of)] = 'K';  // the first turn of an episode each
  write_file_atomic(journal, bytes);
  const auto ledger = log::read_ledger(logged.run);
  const auto facts = read_turn_facts(logged.run, ledger);
  EXPECT_EQ(facts.episodes_lacking_turns, 2u);
  EXPECT_THAT(make_warnings(evidence_of(logged.run, ledger, {}, &facts)),
              Contains(HasSubstr("damage took turns of 2 scored episodes")));
  const LoggedRun whole(usual_end);
  EXPECT_EQ(read_turn_facts(whole.run, whole.ledger).episodes_lacking_turns, 0u);
}

TEST(Costs, OfAttemptsThatDoNotCountAreApart) {
  const LoggedRun logged(usual_end);
  // An earlier attempt of every single-shot episode died after two turns.
  test::write_log(logged.run.log_folder(), "dead", logged.run.plan, [](const EpisodeId& id) -> std::optional<Ended> {
    if (id.cell != "m.ss.p") return std::nullopt;
    return Ended{.outcome = Outcome::api_error, .attempt = 2, .turns = 2};
  });
  const auto ledger = log::read_ledger(logged.run);
  const auto facts = read_turn_facts(logged.run, ledger);
  const auto row = make_costs(evidence_of(logged.run, ledger, {}, &facts))[0];
  EXPECT_EQ(row.tokens_in, 4000u);
  EXPECT_EQ(row.uncounted_tokens, 40u * 2 * 120);
  EXPECT_NEAR(row.uncounted_usd, 0.08, 1e-12);
}

TEST(Costs, OfNoPassAreUnknown) {
  const LoggedRun logged([](const auto&) { return Ended{.outcome = Outcome::mismatch}; });
  const auto facts = read_turn_facts(logged.run, logged.ledger);
  const auto row = make_costs(evidence_of(logged.run, logged.ledger, {}, &facts))[0];
  EXPECT_FALSE(row.usd_per_pass);
  EXPECT_FALSE(row.relative);
  EXPECT_NEAR(*row.usd, 0.04, 1e-12);
}

}  // namespace
}  // namespace nkigrid::aggregate
