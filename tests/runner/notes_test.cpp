// What the runner notes in the log beside its records, and what the ledger says of nodes.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <memory>

#include "jobs/base/clock.hpp"
#include "jobs/base/files.hpp"
#include "runner/leader.hpp"
#include "runner/log/endpoint_notes.hpp"
#include "runner/log/journal.hpp"
#include "runner/log/ledger.hpp"
#include "runner/log/live_shards.hpp"
#include "runner/log/stopped_by.hpp"
#include "tests/log/make_log.hpp"

namespace nkigrid::runner {
namespace {

using log::note_stopped_by;
using log::read_stopped_by;

TEST(StoppedBy, OneReasonIsToldAsItIs) {
  TemporaryDirectory log;
  EXPECT_EQ(read_stopped_by(log.path()), "");
  note_stopped_by(log.path(), ShardId{0}, "SIGTERM");
  note_stopped_by(log.path(), ShardId{7}, "SIGTERM");
  EXPECT_EQ(read_stopped_by(log.path()), "SIGTERM");
}

TEST(StoppedBy, SeveralReasonsNameTheirShards) {
  TemporaryDirectory log;
  note_stopped_by(log.path(), ShardId{0}, "SIGTERM");
  note_stopped_by(log.path(), ShardId{1}, "time limit");
  EXPECT_EQ(read_stopped_by(log.path()), "shards 0: SIGTERM; shards 1: time limit");
}

TEST(StoppedBy, ANewSessionOfAShardClearsItsOwnNoteOnly) {
  TemporaryDirectory log;
  note_stopped_by(log.path(), ShardId{0}, "SIGTERM");
  note_stopped_by(log.path(), ShardId{1}, "time limit");
  note_stopped_by(log.path(), ShardId{0}, "");
  EXPECT_EQ(read_stopped_by(log.path()), "time limit");
  note_stopped_by(log.path(), std::nullopt, "");
  EXPECT_EQ(read_stopped_by(log.path()), "");
}

TEST(StoppedBy, ALongReasonAndAnEmptyOneTakeTheSameBytesOfTheSameFile) {
  TemporaryDirectory log;
  const auto path = log.path() / "stopped_by" / "shard-3";
  const auto look = [&] {
    struct stat found = {};
    EXPECT_EQ(::stat(path.c_str(), &found), 0);
    return std::pair(found.st_ino, found.st_size);
  };
  note_stopped_by(log.path(), ShardId{3}, "");
  const auto room = look();
  for (const auto& reason : {std::string(1, 'x'), std::string(100'000, 'x'), std::string()}) {
    note_stopped_by(log.path(), ShardId{3}, reason);
    EXPECT_EQ(look(), room);
    EXPECT_EQ(read_stopped_by(log.path()).empty(), reason.empty());
  }
}

TEST(StoppedBy, WhatStoodAsAFileIsReplaced) {
  TemporaryDirectory log;
  write_file_atomic(log.path() / "stopped_by", "of an older version");
  note_stopped_by(log.path(), ShardId{0}, "SIGTERM");
  EXPECT_EQ(read_stopped_by(log.path()), "SIGTERM");
}

TEST(StoppedBy, AFailureThatCannotBeNotedIsNoSecondFailure) {
  log::note_failure("/proc/nowhere", std::nullopt, "disk");
}

/// A log in which `node` ran `scored` episodes to a score, and failed others.
void run_on(const std::filesystem::path& folder, const jobs::Plan& plan, const std::string& node, std::uint32_t scored,
            std::uint32_t failed, std::uint32_t attempt = 1, Outcome score = Outcome::pass,
            Outcome failure = Outcome::device_error, double failed_at = 0) {
  log::Journal journal(folder, node, test::made_header());
  for (std::uint32_t i = 0; i < scored + failed; ++i) {
    const auto& planned = plan.episodes.at(i);
    log::End end{
        .id = {plan.id_of(planned), plan.key(planned.cell, planned.task), attempt}, .level = "L1", .category = "unary"};
    end.outcome = i < scored ? score : failure;
    end.started = (i < scored ? 1000 : failed_at) + i;
    end.seconds = 0.5;
    end.ended_by = end.outcome == Outcome::context_full ? EndedBy::context_full : EndedBy::turns;
    end.passed = end.outcome == Outcome::pass ? 1 : 0;
    end.turns = 1;
    end.node = node;
    journal.append(end);
  }
  journal.close();
}

TEST(Nodes, OneThatFailsMoreThanItScoresIsNamed) {
  TemporaryDirectory log;
  const auto plan = test::hand_plan({"m.ss.p"}, {{"L1/001_a", "L1", "unary"}}, 20);
  run_on(log.path(), plan, "good", 6, 5);
  run_on(log.path(), plan, "bad", 1, 5, 2);
  run_on(log.path(), plan, "unlucky", 0, 4, 3);
  const auto ledger = log::fold_log(plan, 5, test::made_log(log.path()), {});
  EXPECT_EQ(ledger.bad_nodes(), std::vector<std::string>{"bad"});
  EXPECT_EQ(ledger.nodes.at("bad").failures, 5u);
}

TEST(Nodes, WhatNeverCameToADeviceVouchesForNone) {
  for (const auto outcome :
       {Outcome::no_code, Outcome::truncated, Outcome::context_full, Outcome::bad_tool_args, Outcome::refused}) {
    TemporaryDirectory log;
    const auto plan = test::hand_plan({"m.ss.p"}, {{"L1/001_a", "L1", "unary"}}, 20);
    run_on(log.path(), plan, "good", 6, 0);
    run_on(log.path(), plan, "bad", 12, 5, 2, outcome);
    EXPECT_EQ(log::fold_log(plan, 5, test::made_log(log.path()), {}).bad_nodes(), std::vector<std::string>{"bad"});
  }
}

TEST(Nodes, ADeviceThatBrokeAfterManyScoresIsNamed) {
  TemporaryDirectory log;
  const auto plan = test::hand_plan({"m.ss.p"}, {{"L1/001_a", "L1", "unary"}}, 40);
  run_on(log.path(), plan, "good", 30, 0);
  run_on(log.path(), plan, "broke", 30, 5, 2, Outcome::pass, Outcome::device_error, 2000);
  const auto ledger = log::fold_log(plan, 5, test::made_log(log.path()), {});
  EXPECT_EQ(ledger.bad_nodes(), std::vector<std::string>{"broke"});
  EXPECT_EQ(ledger.nodes.at("broke").failing, 5u);
}

TEST(Nodes, WhatABadNodeFailedUsesUpNoTry) {
  const auto plan = test::hand_plan({"m.ss.p"}, {{"L1/001_a", "L1", "unary"}}, 20);
  for (std::uint32_t failed = 1; failed <= 5; ++failed) {
    TemporaryDirectory log;
    run_on(log.path(), plan, "bad", 0, failed);
    const auto ledger = log::fold_log(plan, 1, test::made_log(log.path()), {});
    const auto& state = ledger.states[0];
    EXPECT_EQ(state.outstanding, log::Outstanding::device_error) << failed;
    EXPECT_EQ(why_left(ledger, {0}), "infrastructure failures on bad used up this session's attempts");
    EXPECT_EQ(state.last_failure, log::Outstanding::device_error);
  }
}

TEST(Nodes, WhatFailedOnADeviceThatWorkedAfterwardsCounts) {
  TemporaryDirectory log;
  const auto plan = test::hand_plan({"m.ss.p"}, {{"L1/001_a", "L1", "unary"}}, 20);
  run_on(log.path(), plan, "n1", 6, 5);  // the failures first
  const auto ledger = log::fold_log(plan, 1, test::made_log(log.path()), {});
  EXPECT_TRUE(ledger.states[0].is_scored());
  EXPECT_EQ(ledger.nodes.at("n1").failures, 5u);
  EXPECT_FALSE(ledger.states[6].suspect) << "five failures in a row were the node's";
  TemporaryDirectory better;
  run_on(better.path(), plan, "n1", 6, 2);
  const auto other = log::fold_log(plan, 1, test::made_log(better.path()), {});
  EXPECT_TRUE(other.states[6].suspect);
  EXPECT_EQ(other.states[6].outstanding, log::Outstanding::parked);
  EXPECT_EQ(why_left(other, {5, 6}), "parked: infrastructure failures used up every attempt");
}

TEST(Nodes, AnEndpointsFailuresAreNoNodes) {
  TemporaryDirectory log;
  const auto plan = test::hand_plan({"m.ss.p"}, {{"L1/001_a", "L1", "unary"}}, 20);
  run_on(log.path(), plan, "n1", 6, 0);
  run_on(log.path(), plan, "n2", 0, 12, 2, Outcome::pass, Outcome::api_error);
  const auto ledger = log::fold_log(plan, 20, test::made_log(log.path()), {});
  EXPECT_TRUE(ledger.bad_nodes().empty());
  EXPECT_EQ(ledger.nodes.at("n2").failures, 0u);
}

TEST(Nodes, WhereNoneDoesBetterNoneIsOutdone) {
  TemporaryDirectory log;
  const auto plan = test::hand_plan({"m.ss.p"}, {{"L1/001_a", "L1", "unary"}}, 20);
  run_on(log.path(), plan, "n1", 0, 9);
  run_on(log.path(), plan, "n2", 0, 9, 2);
  const auto ledger = log::fold_log(plan, 5, test::made_log(log.path()), {});
  EXPECT_TRUE(ledger.outdone_nodes().empty()) << "elements that wait would have nothing left to begin on";
  EXPECT_EQ(ledger.bad_nodes(), (std::vector<std::string>{"n1", "n2"})) << "the next submission tries others";
  run_on(log.path(), plan, "n3", 1, 0, 3);
  EXPECT_EQ(log::fold_log(plan, 5, test::made_log(log.path()), {}).outdone_nodes(), ledger.bad_nodes());
}

TEST(Running, OnlyWhatTheShardOfALivingWriterHasBegunRuns) {
  TemporaryDirectory log;
  auto plan = test::hand_plan({"m.ss.p"}, {{"L1/001_a", "L1", "unary"}}, 2);
  plan.shards = 2;
  plan.episodes[1].shard = 1;
  std::vector<std::unique_ptr<log::Journal>> writers;
  for (std::uint32_t shard = 0; shard < 2; ++shard) {
    const auto& planned = plan.episodes.at(shard);
    writers.push_back(
        std::make_unique<log::Journal>(log.path(), log::journal_name(ShardId{shard}, 0, "x"), test::made_header()));
    writers.back()->append(log::Begin{.id = {plan.id_of(planned), plan.key(planned.cell, planned.task), 1}});
  }
  writers[1].reset();  // dead
  const auto live = log::live_shards(log.path());
  const auto ledger = log::fold_log(plan, 5, test::made_log(log.path()), live);
  EXPECT_EQ(ledger.states[0].outstanding, log::Outstanding::running);
  EXPECT_EQ(ledger.states[1].outstanding, log::Outstanding::killed);
}

TEST(Running, AWriterOnTheWholeRunAndOneOfAnUnknownNameCountForAll) {
  for (const auto& name : {log::journal_name(std::nullopt, 0, "x"), std::string("some"), std::string("s1")}) {
    TemporaryDirectory log;
    const log::Journal writer(log.path(), name, test::made_header());
    EXPECT_TRUE(log::live_shards(log.path()).contains(7)) << name;
  }
}

TEST(Builds, SeveralAreNamedWithTheirNodes) {
  TemporaryDirectory log;
  const auto plan = test::hand_plan({"m.ss.p"}, {{"L1/001_a", "L1", "unary"}}, 3);
  const auto write = [&](const char* build, const char* node) {
    auto header = test::made_header();
    header.nkigrid_version = build;
    header.host = node;
    log::Journal(log.path(), std::string("on-") + node, header).close();
  };
  write("1.0+aa", "trn1");
  write("1.0+aa", "trn3");
  EXPECT_EQ(log::fold_log(plan, 5, test::made_log(log.path()), {}).build_warning(), "");
  write("1.0+cc", "");  // copied turns for `reverify` and judged nothing
  EXPECT_EQ(log::fold_log(plan, 5, test::made_log(log.path()), {}).build_warning(), "");
  write("1.0+bb", "trn2");
  EXPECT_NE(log::fold_log(plan, 5, test::made_log(log.path()), {})
                .build_warning()
                .find("2 builds of nkigrid wrote this log (1.0+aa on trn1 trn3, 1.0+bb on trn2)"),
            std::string::npos);
}

TEST(EndpointNotes, AreByModelUntilTheyAreCleared) {
  TemporaryDirectory log;
  EXPECT_TRUE(log::read_endpoint_notes(log.path()).empty());
  log::note_endpoint(log.path(), ShardId{3}, "qwen2.5", "has given no reply");
  log::note_endpoint(log.path(), std::nullopt, "opus", "has given no reply either");
  EXPECT_EQ(
      log::read_endpoint_notes(log.path()),
      (std::map<std::string, std::string>{{"qwen2.5", "has given no reply"}, {"opus", "has given no reply either"}}));
  log::note_endpoint(log.path(), ShardId{3}, "qwen2.5", "");
  EXPECT_EQ(log::read_endpoint_notes(log.path()).size(), 1u);
  log::note_endpoint("/proc/nowhere", std::nullopt, "opus", "no second failure");
}

TEST(StoppedBy, ByShardWithTheTimeOfTheNote) {
  TemporaryDirectory log;
  note_stopped_by(log.path(), ShardId{4}, "SIGUSR1");
  note_stopped_by(log.path(), ShardId{5}, "");
  const auto stopped = log::stopped_shards(log.path());
  ASSERT_EQ(stopped.size(), 1u);
  EXPECT_NEAR(stopped.at(4), SystemClock().unix_seconds(), 5);
}

}  // namespace
}  // namespace nkigrid::runner
