// Whatever lies in a log's folder, each record counts once: copies, renamed files, files of another run, two writers.
#include "runner/log/walk.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/check.hpp"
#include "runner/log/put_right.hpp"
#include "runner/log/reader.hpp"
#include "runner/log/salvage.hpp"
#include "runner/log/segment.hpp"
#include "runner/log/set_aside.hpp"
#include "runner/log/turn_summaries.hpp"
#include "tests/log/walked_log.hpp"

namespace nkigrid::log {
namespace {
namespace fs = std::filesystem;
using test::some_id;
using Why = LeftOut::Why;

constexpr SegmentLimits kFew{.rows = 5};

/// Twelve turns of four lanes, which are open where a part ends.
std::vector<Record> lanes() {
  std::vector<Record> records;
  for (std::uint32_t lane = 1; lane <= 4; ++lane) records.emplace_back(Begin{.id = some_id(lane)});
  for (std::uint32_t turn = 1; turn <= 3; ++turn) {
    for (std::uint32_t lane = 1; lane <= 4; ++lane)
      records.emplace_back(Reply{.id = some_id(lane), .turn = turn, .reply = "r" + std::to_string(turn)});
    for (std::uint32_t lane = 1; lane <= 4; ++lane) records.emplace_back(Turn{.id = some_id(lane), .turn = turn});
  }
  for (std::uint32_t lane = 1; lane <= 4; ++lane)
    records.emplace_back(End{.id = some_id(lane), .outcome = Outcome::killed, .turns = 3});
  return records;
}

class Walk : public test::LogFolder {
 protected:
  fs::path write(const std::string& name, const std::vector<Record>& records, const std::string& run = "made-run") {
    return LogFolder::write(name, records, {}, run);
  }
  /// The records once, and one file left out, which salvage() sets aside with nothing lost.
  void expect_left_out(const std::string& name, Why why, const std::vector<Record>& records) {
    const auto got = read();
    ASSERT_EQ(got.left_out.size(), 1U);
    EXPECT_EQ(got.left_out[0].file.filename(), name);
    EXPECT_EQ(got.left_out[0].why, why) << got.left_out[0].text();
    EXPECT_TRUE(got.left_out[0].is_harmless());
    expect_whole(got.records, records);
    const auto done = salvage(log());
    ASSERT_EQ(done.size(), 1U);
    EXPECT_FALSE(done[0].lost);
    EXPECT_TRUE(fs::exists(at("damaged") / name));
    EXPECT_TRUE(read().left_out.empty());
    expect_whole(read().records, records);
  }
  static void expect_whole(const std::vector<Record>& got, const std::vector<Record>& records) {
    EXPECT_TRUE(test::same_records(got, records)) << got.size() << " of " << records.size();
  }
};

TEST_F(Walk, ACopyOfASegmentCountsOnceUnderWhateverName) {
  const auto records = lanes();
  seal_journal(write("a", records), true);
  for (const char* name : {"b.h5", "A copy.h5", "a.part2.h5", "a.part7.h5"}) {
    fs::copy_file(at("a.h5"), at(name));
    expect_left_out(name, Why::copy, records);
  }
}

TEST_F(Walk, ACopyOfAPartCountsOnceUnderWhateverName) {
  const auto records = lanes();
  seal_journal(write("a", records), true, Seconds(0), kFew);
  ASSERT_TRUE(fs::exists(at("a.part3.h5")) && !fs::exists(at("a.part4.h5")));
  for (const char* name : {"b.h5", "a.part4.h5", "b.part2.h5"}) {
    fs::copy_file(at("a.part2.h5"), at(name));
    expect_left_out(name, Why::copy, records);
  }
}

TEST_F(Walk, ACopyOfAJournalCountsOnceSealedOrNotWholeOrNot) {
  const auto records = lanes();
  const auto journal = write("a", records);
  const auto bytes = read_file(journal);
  for (const bool sealed : {false, true}) {
    if (sealed) seal_journal(journal, true);
    for (const auto size : {bytes.size(), bytes.size() / 2}) {  // an older backup is shorter
      write_file_atomic(at("b.journal"), std::string_view(bytes).substr(0, size));
      expect_left_out("b.journal", Why::copy, records);
    }
  }
}

TEST_F(Walk, AJournalThatWasCopiedBeforeItWasSealedCountsOnce) {
  const auto records = lanes();
  seal_journal(write("a", records), true);
  seal_journal(write("b", records), true);  // as a program that trusted names would
  expect_left_out("b.h5", Why::copy, records);
}

TEST_F(Walk, TheSmallerOfTwoJournalsGoesWhicheverIsReadFirst) {
  const auto records = lanes();
  write("a", {records.begin(), records.begin() + 10});
  write("b", records);
  const auto got = read();
  ASSERT_EQ(got.left_out.size(), 1U);
  EXPECT_EQ(got.left_out[0].why, Why::part_copy);
  EXPECT_THROW(read_log(log(), Texts::skip, {.begin = [](const Begin&) {}}), Error);
  const auto done = salvage(log());
  ASSERT_EQ(done.size(), 1U);
  EXPECT_FALSE(done[0].lost);
  EXPECT_TRUE(fs::exists(at("damaged/a.journal")));
  expect_whole(read().records, records);
}

TEST_F(Walk, WhatTwoFilesTellDifferentlyIsCorruptUntilSomebodyTakesOneAway) {
  const auto records = lanes();
  auto others = lanes();
  std::get<Reply>(others[4]).tokens_in = 1000;
  others.emplace_back(Begin{.id = some_id(9)});
  write("a", records);
  for (const bool sealed : {false, true}) {
    const auto journal = write("b", others);
    if (sealed) seal_journal(journal, false), fs::remove(journal);
    try {
      read_log(log(), Texts::skip, {.begin = [](const Begin&) {}});
      FAIL() << "two truths were read";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::corrupt);
      EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr(sealed ? "b.h5" : "b.journal"),
                                               testing::HasSubstr("'a' tell 1 records differently")));
    }
    // Sealing chooses neither: the first by its name is no truer than the other.
    EXPECT_TRUE(salvage(log()).empty());
    std::size_t conflicts = 0;
    for (const auto& check : check_log(log())) {
      conflicts += check.is_beyond_saving ? 1 : 0;
      EXPECT_EQ(check.damaged(), check.is_beyond_saving) << check.error;
      if (check.is_beyond_saving) {
        EXPECT_THAT(check.error, testing::HasSubstr("move the one that you do not believe"));
      }
    }
    EXPECT_EQ(conflicts, 1U);
    for (const char* name : {"b.h5", "b.journal"}) fs::remove(at(name));
    expect_whole(read().records, records);
  }
}

TEST_F(Walk, TwoEndsOfOneAttemptInOneFileAreNoLog) {
  auto records = lanes();
  End second;
  for (const auto& record : records)
    if (const auto* end = std::get_if<End>(&record)) second = *end;
  ASSERT_EQ(second.id.attempt, 1U);
  second.seconds += 1;
  records.emplace_back(second);
  const auto journal = write("a", records);
  const auto is_refused = [&] {
    const auto checks = check_log(log());
    ASSERT_EQ(checks.size(), 1U);
    EXPECT_THAT(checks[0].error, testing::HasSubstr("two ends of attempt 1 of "));
  };
  is_refused();
  seal_journal(journal, true);
  is_refused();
}

TEST_F(Walk, ARenamedSegmentIsCorruptUntilItHasItsName) {
  const auto records = lanes();
  seal_journal(write("a", records), true);
  fs::rename(at("a.h5"), at("z.h5"));
  ASSERT_EQ(read().left_out.size(), 1U);
  EXPECT_EQ(read().left_out[0].why, Why::misnamed);
  EXPECT_THROW(read_log(log(), Texts::skip, {}), Error);
  EXPECT_THAT(check_log(log()).at(0).error, testing::HasSubstr("names it 'a.h5'"));
  ASSERT_EQ(salvage(log()).size(), 1U);
  EXPECT_TRUE(fs::exists(at("a.h5")) && !fs::exists(at("z.h5")));
  expect_whole(read().records, records);
}

TEST_F(Walk, PartsThatChangedPlacesAreCorrupt) {
  seal_journal(write("a", lanes()), true, Seconds(0), kFew);
  fs::rename(at("a.h5"), at("x"));
  fs::rename(at("a.part2.h5"), at("a.h5"));
  fs::rename(at("x"), at("a.part2.h5"));
  EXPECT_THROW(read_log(log(), Texts::skip, {}), Error);
}

TEST_F(Walk, FilesOfAnotherRunAreLeftOutAndSetAside) {
  const auto records = lanes();
  write("a", records);
  write("b", {Begin{.id = some_id(7)}}, "another-run");
  expect_left_out("b.journal", Why::foreign, records);
  seal_journal(write("c", {Begin{.id = some_id(8)}}, "another-run"), false);
  fs::remove(at("c.journal"));
  expect_left_out("c.h5", Why::foreign, records);
}

TEST_F(Walk, AForeignFileNeitherCoversNorSettlesNorIsSealed) {
  const auto open = write("a", {Begin{.id = some_id(1)}});
  write("b", {Begin{.id = some_id(1, 2)}}, "another-run");
  EXPECT_EQ(seal_all(log()).size(), 1U);
  EXPECT_TRUE(fs::exists(open)) << "another run's attempt settles nothing here";
  EXPECT_FALSE(fs::exists(at("b.h5")));
}

TEST_F(Walk, AJournalWithADamagedHeadIsKnownByItsBegins) {
  const auto records = lanes();
  for (const bool foreign : {false, true}) {
    const auto journal = write("a", records, foreign ? "another-run" : "made-run");
    auto bytes = read_file(journal);
    bytes[50] ^= 1;  // in the data of the first record
    write_file_atomic(journal, bytes);
    const auto got = read();
    EXPECT_EQ(got.left_out.size(), foreign ? 1U : 0U);
    EXPECT_EQ(got.records.size(), foreign ? 0U : records.size());
    if (!foreign) {
      seal_all(log());
      EXPECT_EQ(read_segment_header(at("a.h5")).header.run_id, "made-run");
      EXPECT_EQ(read().records.size(), records.size());
      fs::remove(at("a.h5"));
    }
  }
}

TEST_F(Walk, TurnSummariesCountACopyOnce) {
  auto plan = test::hand_plan({"novice.ss.naive"}, {{"L1/012_gelu", "L1", "unary"}}, 4);
  plan.keys[0] = some_id(1).key;
  seal_journal(write("a", lanes()), true);
  fs::copy_file(at("a.h5"), at("b.h5"));
  write("c", lanes());
  int turns = 0;
  read_turn_summaries(plan, log(), [&](const TurnSummary&) { ++turns; });
  EXPECT_EQ(turns, 12);
}

TEST_F(Walk, TheRowThatATakerOverWroteForTheDeadIsNoOverlap) {
  write("a", {Begin{.id = some_id(1)}, Reply{.id = some_id(1), .turn = 1}});
  write("b", {End{.id = some_id(1), .outcome = Outcome::killed}, Begin{.id = some_id(1, 2)}});
  const auto got = read();
  EXPECT_TRUE(got.left_out.empty());
  EXPECT_EQ(got.records.size(), 4U);
}

TEST_F(Walk, AWritersJournalIsNeverSetAside) {
  Journal living(folder_.path(), "a", test::made_header());
  living.append(Begin{.id = some_id(1)});
  auto header = test::made_header();
  header.run_id = "another-run";
  Journal stranger(folder_.path(), "b", header);
  stranger.append(Begin{.id = some_id(2)});
  EXPECT_TRUE(salvage(log()).empty());
  EXPECT_TRUE(fs::exists(stranger.path()));
}

}  // namespace
}  // namespace nkigrid::log
