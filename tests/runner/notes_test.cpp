// What the runner notes in the log beside its records, and what the ledger says of nodes.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "jobs/base/files.hpp"
#include "runner/log/ledger.hpp"
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
            std::uint32_t failed, std::uint32_t attempt = 1) {
  log::Journal journal(folder, node, test::made_header());
  for (std::uint32_t i = 0; i < scored + failed; ++i) {
    const auto& planned = plan.episodes.at(i);
    log::End end{
        .id = {plan.id_of(planned), plan.key(planned.cell, planned.task), attempt}, .level = "L1", .category = "unary"};
    end.outcome = i < scored ? Outcome::no_code : Outcome::device_error;
    end.ended_by = EndedBy::turns;
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
  const auto ledger = log::fold_log(plan, 5, test::made_log(log.path()), false);
  EXPECT_EQ(ledger.bad_nodes(), std::vector<std::string>{"bad"});
  EXPECT_EQ(ledger.nodes.at("bad").failures, 5u);
}

TEST(Nodes, WhereNoneDoesBetterNoneIsNamed) {
  TemporaryDirectory log;
  const auto plan = test::hand_plan({"m.ss.p"}, {{"L1/001_a", "L1", "unary"}}, 20);
  run_on(log.path(), plan, "n1", 0, 9);
  run_on(log.path(), plan, "n2", 0, 9, 2);
  EXPECT_TRUE(log::fold_log(plan, 5, test::made_log(log.path()), false).bad_nodes().empty());
}

}  // namespace
}  // namespace nkigrid::runner
