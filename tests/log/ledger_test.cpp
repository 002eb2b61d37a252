#include "runner/log/ledger.hpp"

#include <gmock/gmock.h>

#include <map>

#include "jobs/base/files.hpp"
#include "runner/log/segment.hpp"
#include "tests/log/make_log.hpp"

namespace nkigrid::log {
namespace {
namespace fs = std::filesystem;
using test::attempt_records;
using test::Ended;

class LedgerOfOne : public testing::Test {
 protected:
  /// Appends records of the one planned episode to a journal of their own.
  void log(const std::vector<Record>& records) {
    Journal journal(folder_.path(), "j" + std::to_string(++files_), test::made_header());
    journal.append(records);
  }
  void ended(std::uint32_t attempt, Outcome outcome, const std::string& node = "node1") {
    auto records = attempt_records(id(attempt), "L1", "unary", {.outcome = outcome});
    std::get<End>(records.back()).node = node;
    log(records);
  }
  void begun(std::uint32_t attempt, const std::string& node = "node1") {
    log({Begin{.id = id(attempt), .node = node}});
  }
  AttemptId id(std::uint32_t attempt) const { return {plan_.id_of(plan_.episodes[0]), plan_.keys[0], attempt}; }
  EpisodeState state(bool live = false, std::uint32_t retries = 5) const {
    return fold_log(plan_, retries, test::made_log(folder_.path()), {.all = live}).states.at(0);
  }

  jobs::Plan plan_ = test::hand_plan({"m.ss.naive"}, {{"L1/001_a", "L1", "unary"}}, 1);
  TemporaryDirectory folder_;
  int files_ = 0;
};

TEST_F(LedgerOfOne, NothingLoggedIsPending) {
  EXPECT_EQ(state().outstanding, Outstanding::pending);
  EXPECT_EQ(state().attempts, 0u);
}

TEST_F(LedgerOfOne, AScoredEndCounts) {
  ended(1, Outcome::mismatch);
  const auto ledger = fold_log(plan_, 5, test::made_log(folder_.path()), {});
  EXPECT_EQ(ledger.states[0].outstanding, Outstanding::none);
  EXPECT_EQ(ledger.states[0].counted_attempt, 1u);
  EXPECT_EQ(ledger.ends[0]->outcome, Outcome::mismatch);
  EXPECT_EQ(ledger.scored(), 1u);
  EXPECT_EQ(ledger.outstanding(), 0u);
}

TEST_F(LedgerOfOne, AnAttemptWithoutAnEndIsRunningOrKilled) {
  begun(1, "node8");
  EXPECT_EQ(state(true).outstanding, Outstanding::running);
  EXPECT_EQ(state(false).outstanding, Outstanding::killed);
  EXPECT_TRUE(state().unfinished);
  EXPECT_EQ(state().last_node, "node8");
}

TEST_F(LedgerOfOne, TheHighestScoredAttemptCountsWhateverTheOrder) {
  ended(3, Outcome::pass);
  ended(2, Outcome::mismatch);
  ended(4, Outcome::killed);
  const auto ledger = fold_log(plan_, 5, test::made_log(folder_.path()), {});
  EXPECT_EQ(ledger.states[0].counted_attempt, 3u);
  EXPECT_EQ(ledger.states[0].attempts, 4u);
  EXPECT_EQ(ledger.ends[0]->outcome, Outcome::pass);
  EXPECT_EQ(ledger.states[0].outstanding, Outstanding::none);
}

TEST_F(LedgerOfOne, TheReasonIsHowTheNewestAttemptEnded) {
  ended(1, Outcome::device_error);
  EXPECT_EQ(state().outstanding, Outstanding::device_error);
  ended(2, Outcome::api_error);
  EXPECT_EQ(state().outstanding, Outstanding::api_error);
  ended(3, Outcome::killed);
  EXPECT_EQ(state().outstanding, Outstanding::killed);
  begun(4);
  EXPECT_EQ(state(true).outstanding, Outstanding::running);
  EXPECT_EQ(state(true).infra_failures, 2u);
}

TEST_F(LedgerOfOne, FiveInfrastructureFailuresParkAndKillsDoNot) {
  for (std::uint32_t attempt = 1; attempt <= 4; ++attempt) ended(attempt, Outcome::verifier_error);
  for (std::uint32_t attempt = 5; attempt <= 12; ++attempt) ended(attempt, Outcome::killed);
  EXPECT_EQ(state().outstanding, Outstanding::killed);
  ended(13, Outcome::device_error, "node2");  // on one node alone five would be the node's
  EXPECT_EQ(state().outstanding, Outstanding::parked);
  EXPECT_EQ(state().infra_failures, 5u);
  EXPECT_EQ(state().last_failure, Outstanding::device_error);
  EXPECT_EQ(state(false, 6).outstanding, Outstanding::device_error);
}

TEST_F(LedgerOfOne, FiveFailuresOnOneNodeThatScoresNothingAreTheNodes) {
  for (std::uint32_t attempt = 1; attempt <= 5; ++attempt) ended(attempt, Outcome::verifier_error);
  EXPECT_EQ(state().outstanding, Outstanding::verifier_error);
  EXPECT_EQ(state().infra_failures, 0u);
}

TEST_F(LedgerOfOne, FailuresOnOneNodeThatNothingVouchesForParkNothing) {
  for (const std::uint32_t attempt : {1, 2}) ended(attempt, Outcome::device_error);
  EXPECT_EQ(state(false, 2).outstanding, Outstanding::device_error);
  EXPECT_EQ(state(false, 2).infra_failures, 2u) << "a session that tries it again tries it once on such a node";
  ended(3, Outcome::device_error, "node2");
  EXPECT_EQ(state(false, 2).outstanding, Outstanding::parked) << "it failed on two";
}

TEST_F(LedgerOfOne, AParkedEpisodeIsDealtOnlyWhenAskedFor) {
  for (std::uint32_t attempt = 1; attempt <= 5; ++attempt) ended(attempt, Outcome::api_error);
  const auto ledger = fold_log(plan_, 5, test::made_log(folder_.path()), {});
  EXPECT_THAT(ledger.to_run(false), testing::IsEmpty());
  EXPECT_THAT(ledger.to_run(true), testing::ElementsAre(0u));
  EXPECT_THAT(ledger.shards_to_run(plan_, false), testing::IsEmpty());
  EXPECT_THAT(ledger.shards_to_run(plan_, true), testing::ElementsAre(0u));
  EXPECT_EQ(ledger.outstanding(), 1u);
}

TEST_F(LedgerOfOne, TheSameFailureReadTwiceCountsOnce) {
  ended(1, Outcome::api_error);
  ended(1, Outcome::api_error);
  EXPECT_EQ(state().infra_failures, 1u);
}

TEST_F(LedgerOfOne, RowsOfAnotherKeyAndOfUnplannedEpisodesAreIgnored) {
  auto other = id(1);
  other.key = "0000000000000000";
  log(attempt_records(other, "L1", "unary", {}));
  auto unplanned = id(1);
  unplanned.episode.replicate = 2;
  log(attempt_records(unplanned, "L1", "unary", {}));
  unplanned.episode.cell = "no.such.cell";
  log(attempt_records(unplanned, "L1", "unary", {}));
  const auto ledger = fold_log(plan_, 5, test::made_log(folder_.path()), {});
  EXPECT_EQ(ledger.states[0].outstanding, Outstanding::pending);
  EXPECT_EQ(ledger.ignored_rows, 3u);
}

TEST(Ledger, IsTheSameSealedAndUnsealed) {
  const auto plan =
      test::hand_plan({"m.ss.naive", "m.agent.naive"}, {{"L2/001_b", "L2", "fused"}, {"L1/001_a", "L1", "unary"}}, 3);
  TemporaryDirectory folder;
  int n = 0;
  test::write_log(folder.path(), "made", plan, [&](const EpisodeId&) -> std::optional<Ended> {
    if (++n % 4 == 0) return std::nullopt;
    return Ended{.outcome = n % 4 == 1   ? Outcome::pass
                            : n % 4 == 2 ? Outcome::compile_fail
                                         : Outcome::api_error,
                 .turns = 2};
  });
  const auto before = fold_log(plan, 5, test::made_log(folder.path()), {});
  ASSERT_EQ(seal_all(test::made_log(folder.path())).size(), 1u);
  EXPECT_FALSE(fs::exists(folder.path() / "made.journal"));
  const auto after = fold_log(plan, 5, test::made_log(folder.path()), {});
  EXPECT_EQ(before.scored(), 6u);
  for (std::size_t i = 0; i < plan.episodes.size(); ++i) {
    EXPECT_EQ(before.states[i].outstanding, after.states[i].outstanding) << i;
    EXPECT_EQ(before.states[i].attempts, after.states[i].attempts) << i;
    ASSERT_EQ(before.ends[i].has_value(), after.ends[i].has_value()) << i;
    if (before.ends[i]) {
      EXPECT_EQ(before.ends[i]->tokens_in, after.ends[i]->tokens_in);
    }
  }
}

/// A grid and its log after a SIGKILL, after public reports of restarts that dropped samples, lost their
/// results or kept stale ones. Modes SS and NKIAgent are cells here; the sample number is the replicate; a
/// task whose file changed has another key.
TEST(Ledger, AfterAKillExactlyTheUnscoredAndTheStaleAreRerun) {
  const auto plan = test::hand_plan({"sft.ss.p", "sft.agent.p"}, {{"L1/001", "L1", "x"}, {"L1/002", "L1", "x"}}, 3);
  const auto id = [&](const std::string& cell, const std::string& task, std::uint32_t replicate) {
    const auto key = sha256_hex(cell + " " + task).substr(0, 16);  // as hand_plan() makes it
    return AttemptId{{cell, task, replicate}, key, 1};
  };
  TemporaryDirectory folder;
  Journal journal(folder.path(), "killed", test::made_header());
  journal.append(attempt_records(id("sft.ss.p", "L1/001", 1), "L1", "x", {.outcome = Outcome::pass}));
  journal.append(attempt_records(id("sft.ss.p", "L1/001", 2), "L1", "x", {.outcome = Outcome::mismatch}));
  journal.append(Begin{.id = id("sft.ss.p", "L1/001", 3)});
  auto four_turns = attempt_records(id("sft.agent.p", "L1/001", 1), "L1", "x", {.turns = 4});
  four_turns.pop_back();  // killed before its end
  journal.append(four_turns);
  journal.append(
      attempt_records(id("sft.ss.p", "L1/002", 1), "L1", "x", {.outcome = Outcome::api_error, .reason = "529"}));
  auto stale = id("sft.ss.p", "L1/002", 2);
  stale.key = "01d01d01d01d01d0";
  journal.append(attempt_records(stale, "L1", "x", {.outcome = Outcome::pass}));
  journal.close();

  const auto ledger = fold_log(plan, 5, test::made_log(folder.path()), {});
  std::vector<std::string> rerun, kept;
  for (const auto i : ledger.to_run(false)) rerun.push_back(to_string(plan.id_of(plan.episodes[i])));
  for (std::size_t i = 0; i < ledger.ends.size(); ++i) {
    if (ledger.ends[i]) kept.push_back(to_string(plan.id_of(plan.episodes[i])));
  }
  EXPECT_THAT(rerun, testing::UnorderedElementsAre("sft.ss.p/L1/001#3", "sft.agent.p/L1/001#1", "sft.ss.p/L1/002#1",
                                                   "sft.ss.p/L1/002#2", "sft.agent.p/L1/001#2", "sft.agent.p/L1/001#3",
                                                   "sft.ss.p/L1/002#3", "sft.agent.p/L1/002#1", "sft.agent.p/L1/002#2",
                                                   "sft.agent.p/L1/002#3"));
  EXPECT_THAT(kept, testing::UnorderedElementsAre("sft.ss.p/L1/001#1", "sft.ss.p/L1/001#2"));
  EXPECT_EQ(ledger.ignored_rows, 1u);
}

TEST(Ledger, AfterTheRerunEachEpisodeCountsOnceAndBothAttemptsAreLogged) {
  const auto plan = test::hand_plan({"sft.agent.p", "sft.ss.p"}, {{"L1/001", "L1", "x"}}, 1);
  TemporaryDirectory folder;
  const AttemptId agent{plan.id_of(plan.episodes[0]), plan.keys[0], 1},
      single{plan.id_of(plan.episodes[1]), plan.keys[1], 1};
  Journal killed(folder.path(), "killed", test::made_header());
  auto four_turns = attempt_records(agent, "L1", "x", {.turns = 4});
  four_turns.pop_back();
  killed.append(four_turns);
  killed.append(attempt_records(single, "L1", "x", {.outcome = Outcome::api_error}));
  killed.close();
  auto agent2 = agent, single2 = single;
  agent2.attempt = single2.attempt = 2;
  Journal next(folder.path(), "next", test::made_header());
  next.append(attempt_records(agent2, "L1", "x", {.outcome = Outcome::pass}));
  next.append(End{.id = agent, .outcome = Outcome::killed});  // the next owner writes the dead attempt's row
  next.append(attempt_records(single2, "L1", "x", {.outcome = Outcome::pass}));
  next.close();

  for (const bool sealed : {false, true}) {
    if (sealed) seal_all(test::made_log(folder.path()));
    const auto ledger = fold_log(plan, 5, test::made_log(folder.path()), {});
    EXPECT_EQ(ledger.scored(), 2u);
    EXPECT_EQ(ledger.states[0].attempts, 2u);
    EXPECT_EQ(ledger.states[1].attempts, 2u);
    EXPECT_EQ(ledger.ends[0]->id.attempt, 2u);
  }
}

}  // namespace
}  // namespace nkigrid::log
