#include "runner/log/reader.hpp"

#include "runner/log/history.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/segment.hpp"
#include "tests/log/make_log.hpp"
#include "tests/log/records_equal.hpp"

namespace nkigrid::log {
namespace {
namespace fs = std::filesystem;
using test::same;
using test::some_id;
using test::some_records;

struct Everything {
  std::vector<Record> records;
  std::vector<std::string> warnings;
};
Everything read_everything(const fs::path& folder, Texts texts = Texts::load) {
  Everything all;
  LogVisitor visitor;
  visitor.begin = [&](const Begin& r) { all.records.emplace_back(r); };
  visitor.reply = [&](const Reply& r) { all.records.emplace_back(r); };
  visitor.turn = [&](const Turn& r) { all.records.emplace_back(r); };
  visitor.end = [&](const End& r) { all.records.emplace_back(r); };
  visitor.warning = [&](const std::string& warning) { all.warnings.push_back(warning); };
  read_log(test::made_log(folder), texts, visitor);
  return all;
}

class Reader : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::vector<Record>& records) {
    Journal journal(folder_.path(), name, test::made_header());
    journal.append(records);
    journal.close();
    return journal.path();
  }
  TemporaryDirectory folder_;
};

TEST_F(Reader, AnAbsentOrEmptyFolderIsAnEmptyLog) {
  EXPECT_TRUE(read_everything(folder_.path() / "absent").records.empty());
  EXPECT_TRUE(read_everything(folder_.path()).records.empty());
}

TEST_F(Reader, SealedAndUnsealedRecordsAreSeenOnceAndAlike) {
  const auto a = some_records(100, 1), b = some_records(100, 2);
  seal_journal(write("a", a), false);  // the journal stays beside its segment
  write("b", b);
  std::ofstream(folder_.path() / ".hidden.journal") << "not ours";
  std::ofstream(folder_.path() / "note.txt") << "not ours";
  std::vector<Record> expected = a;
  expected.insert(expected.end(), b.begin(), b.end());
  const auto got = read_everything(folder_.path());
  EXPECT_TRUE(std::equal(got.records.begin(), got.records.end(), expected.begin(), expected.end(), same));
  seal_all(test::made_log(folder_.path()));
  const auto sealed = read_everything(folder_.path());
  EXPECT_TRUE(std::equal(sealed.records.begin(), sealed.records.end(), expected.begin(), expected.end(), same));
  EXPECT_TRUE(sealed.warnings.empty());
}

TEST_F(Reader, RecordsBeyondTheSegmentComeFromTheJournal) {
  const auto records = some_records(100);
  const auto journal = write("a", {records[0], records[1]});
  const auto half = read_file(journal);
  fs::remove(journal);
  write("a", records);
  const auto whole = read_file(journal);
  std::ofstream(journal, std::ios::binary) << half;
  seal_journal(journal, false);  // what a sealer without locks may do to a living journal
  std::ofstream(journal, std::ios::binary) << whole;
  const auto got = read_everything(folder_.path());
  EXPECT_TRUE(std::equal(got.records.begin(), got.records.end(), records.begin(), records.end(), same));
  seal_journal(journal, true);
  EXPECT_FALSE(fs::exists(journal));
  EXPECT_EQ(read_everything(folder_.path()).records.size(), records.size());
}

TEST_F(Reader, ATornTailIsSilentAndDamageIsAWarningWithTheFile) {
  const auto journal = write("a", some_records(100));
  const auto bytes = read_file(journal);
  std::ofstream(journal, std::ios::binary | std::ios::trunc) << bytes.substr(0, bytes.size() - 5);
  const auto torn = read_everything(folder_.path());
  EXPECT_EQ(torn.records.size(), 3u);
  EXPECT_TRUE(torn.warnings.empty());

  auto damaged = bytes;
  damaged[damaged.size() - 5] = static_cast<char>(damaged[damaged.size() - 5] ^ 1);
  std::ofstream(journal, std::ios::binary | std::ios::trunc) << damaged;
  EXPECT_THAT(read_everything(folder_.path()).warnings,
              testing::ElementsAre(testing::HasSubstr("a.journal' is damaged")));
  seal_journal(journal, false);
  EXPECT_EQ(read_everything(folder_.path()).warnings.size(), 1u) << "once, though journal and segment both know";
  seal_journal(journal, true);
  EXPECT_TRUE(read_everything(folder_.path()).warnings.empty()) << "what is lost is known, and set aside";
  EXPECT_EQ(read_everything(folder_.path()).records.size(), 3u);
}

TEST_F(Reader, AForeignOrBrokenFileIsCorruptByName) {
  std::ofstream(folder_.path() / "x.journal") << "something else altogether";
  EXPECT_THROW(read_everything(folder_.path()), Error);
  fs::remove(folder_.path() / "x.journal");
  std::ofstream(folder_.path() / "y.h5") << "something else altogether";
  try {
    read_everything(folder_.path());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
    EXPECT_THAT(error.what(), testing::HasSubstr("y.h5"));
  }
}

TEST_F(Reader, SkippingTextsKeepsTheNumbersOfBothForms) {
  write("a", some_records(100, 1));
  seal_journal(write("b", some_records(100, 2)), false);
  const auto got = read_everything(folder_.path(), Texts::skip);
  ASSERT_EQ(got.records.size(), 8u);
  for (const std::size_t i : {1, 5}) {
    EXPECT_EQ(std::get<Reply>(got.records[i]).request, "");
    EXPECT_EQ(std::get<Reply>(got.records[i]).tokens_out, 200u);
  }
}

// ---- histories ----

class History : public Reader {
 protected:
  static Begin begin(std::uint32_t attempt, std::uint32_t inherited) {
    return {.id = some_id(1, attempt), .inherited_turns = inherited};
  }
  static Reply reply(std::uint32_t attempt, std::uint32_t turn, const std::string& text = "") {
    return {.id = some_id(1, attempt), .turn = turn, .reply = text.empty() ? "reply " + std::to_string(turn) : text};
  }
  static Turn turn(std::uint32_t attempt, std::uint32_t turn) {
    return {.id = some_id(1, attempt), .turn = turn, .tool_output = "answer " + std::to_string(turn)};
  }
  /// "1:1+ 1:2+ 2:3-": attempt:turn, + answered, - not.
  std::string history() const {
    std::string text;
    for (const auto& logged : read_history(test::made_log(folder_.path()), some_id(1).episode, some_id(1).key)) {
      text += std::to_string(logged.reply.id.attempt) + ":" + std::to_string(logged.reply.turn) +
              (logged.turn ? "+ " : "- ");
    }
    return text;
  }
};

TEST_F(History, OfAKilledAttemptEndsWithTheUnansweredReply) {
  write("a", {begin(1, 0), reply(1, 1), turn(1, 1), reply(1, 2), turn(1, 2), reply(1, 3, "paid for")});
  EXPECT_EQ(history(), "1:1+ 1:2+ 1:3- ");
  const auto before = read_history(test::made_log(folder_.path()), some_id(1).episode, some_id(1).key);
  EXPECT_EQ(before.back().reply.reply, "paid for");
  EXPECT_EQ(before.front().turn->tool_output, "answer 1");
  seal_all(test::made_log(folder_.path()));
  EXPECT_EQ(history(), "1:1+ 1:2+ 1:3- ");
}

TEST_F(History, ChainsThroughAttemptsThatInherited) {
  write("a", {begin(1, 0), reply(1, 1), turn(1, 1), reply(1, 2)});
  write("b", {begin(2, 1), reply(2, 2), turn(2, 2), reply(2, 3), turn(2, 3)});
  write("c", {begin(3, 3), reply(3, 4)});
  EXPECT_EQ(history(), "1:1+ 2:2+ 2:3+ 3:4- ");
}

TEST_F(History, AReplyThatIsTakenOverWasPaidForByWhoAskedForIt) {
  write("a", {begin(1, 0), reply(1, 1)});
  write("b", {begin(2, 0), reply(2, 1)});
  write("c", {begin(3, 0), reply(3, 1), turn(3, 1), reply(3, 2)});
  const auto turns = read_history(test::made_log(folder_.path()), some_id(1).episode, some_id(1).key);
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_EQ(turns[0].paid_by, 1u);
  EXPECT_EQ(turns[1].paid_by, 3u);
}

TEST_F(History, AnAttemptThatDiedAtOnceLeavesItsPredecessorsUnansweredReply) {
  write("a", {begin(1, 0), reply(1, 1), turn(1, 1), reply(1, 2)});
  write("b", {begin(2, 1)});
  EXPECT_EQ(history(), "1:1+ 1:2- ");
}

TEST_F(History, AnAttemptThatBeganAnewHidesTheOldOnes) {
  write("a", {begin(1, 0), reply(1, 1), turn(1, 1), reply(1, 2), turn(1, 2)});
  write("b", {begin(2, 0), reply(2, 1, "anew")});
  EXPECT_EQ(history(), "2:1- ");
}

TEST_F(History, TheRowThatANewOwnerWroteForTheDeadDoesNotHideWhatItInherited) {
  write("a", {begin(1, 0), reply(1, 1), turn(1, 1)});
  write("b", {begin(2, 1), reply(2, 2), turn(2, 2)});
  write("c", {End{.id = some_id(1, 2), .inherited_turns = 0, .outcome = Outcome::killed}, begin(3, 2)});
  EXPECT_EQ(history(), "1:1+ 2:2+ ");
}

TEST_F(History, AZombiesLateTurnsDoNotEnterTheNextAttempts) {
  write("a", {begin(1, 0), reply(1, 1), turn(1, 1), reply(1, 2), turn(1, 2), reply(1, 3), turn(1, 3)});
  write("b", {begin(2, 1), reply(2, 2), turn(2, 2)});
  EXPECT_EQ(history(), "1:1+ 2:2+ ");
}

TEST_F(History, ALostTurnCutsWhatCannotBeRebuilt) {
  write("a", {begin(1, 0), reply(1, 1), turn(1, 1), turn(1, 2), reply(1, 3), turn(1, 3)});
  EXPECT_EQ(history(), "1:1+ ");
}

TEST_F(History, OtherEpisodesAndOtherKeysDoNotMix) {
  auto other = reply(1, 1);
  other.id.key = "ffffffffffffffff";
  write("a", {other, Reply{.id = some_id(2), .turn = 1}});
  EXPECT_EQ(history(), "");
  const auto both = read_histories(test::made_log(folder_.path()),
                                   {{some_id(2).episode, some_id(2).key}, {some_id(1).episode, other.id.key}});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].at(0).reply.id.episode.replicate, 2u);
  EXPECT_EQ(both[1].at(0).reply.id.key, "ffffffffffffffff");
}

}  // namespace
}  // namespace nkigrid::log
