// A log with a key: what the key did not seal is not counted, whatever it says of itself, and what it did is read as
// ever, damaged, copied or renamed.
#include <gmock/gmock.h>

#include <algorithm>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/audit.hpp"
#include "runner/log/bytes.hpp"
#include "runner/log/check.hpp"
#include "runner/log/framing.hpp"
#include "runner/log/front_seal.hpp"
#include "runner/log/journal_reader.hpp"
#include "runner/log/reader.hpp"
#include "runner/log/salvage.hpp"
#include "runner/log/segment.hpp"
#include "runner/log/segment_reader.hpp"
#include "tests/log/walked_log.hpp"

namespace nkigrid::log {
namespace {
namespace fs = std::filesystem;
using test::same_records;
using test::some_id;
using Why = LeftOut::Why;

const SealKey kOurs(std::string(64, 'a')), kTheirs(std::string(64, 'b'));
constexpr SegmentLimits kFewRows{.rows = 5};

/// Episodes of two turns with texts; each has its end.
std::vector<Record> episodes(std::uint32_t from, std::uint32_t count) {
  std::vector<Record> all;
  for (std::uint32_t n = from; n < from + count; ++n) {
    auto records = test::some_records(3000 + n, n);
    std::move(records.begin(), records.end(), std::back_inserter(all));
  }
  return all;
}

class Sealed : public test::LogFolder {
 protected:
  Sealed() : LogFolder(kOurs) {}
  fs::path write(const std::string& name, const std::vector<Record>& records, const SealKey& key = kOurs) {
    return LogFolder::write(name, records, key);
  }
  void seal(const fs::path& journal, const SealKey& key = kOurs, SegmentLimits limits = {}) {
    seal_journal(journal, true, Seconds(0), limits, key);
  }
  /// It may be ours, damaged: what it held may be lost, and nobody promises to save any of it.
  void expect_unproven(const std::string& name, const std::vector<Record>& ours) {
    const auto got = read();
    ASSERT_EQ(got.left_out.size(), 1U);
    EXPECT_EQ(got.left_out[0].why, Why::unproven);
    EXPECT_THAT(got.left_out[0].text(), testing::HasSubstr(name + "' is not sealed by the key of this run"));
    EXPECT_TRUE(same_records(got.records, ours));
    std::size_t beyond_saving = 0;
    for (const auto& check : check_log(log())) {
      EXPECT_EQ(check.damaged(), check.file.filename() == name) << check.error;
      beyond_saving += check.is_beyond_saving ? 1 : 0;
    }
    EXPECT_EQ(beyond_saving, 1U);
    const auto done = salvage(log());
    ASSERT_EQ(done.size(), 1U);
    EXPECT_TRUE(done[0].lost);
    EXPECT_TRUE(fs::exists(at("damaged") / name));
    EXPECT_TRUE(same_records(read().records, ours));
  }
};

TEST_F(Sealed, JournalAndSegmentsReadAsWrittenWithTheKeyAndWithout) {
  const auto records = episodes(1, 6);
  const auto journal = write("a", records);
  EXPECT_TRUE(same_records(read().records, records));
  seal(journal, kOurs, kFewRows);
  ASSERT_TRUE(fs::exists(at("a.part2.h5")) && !fs::exists(journal));
  EXPECT_TRUE(same_records(read().records, records));
  for (const auto& check : check_log(log())) EXPECT_FALSE(check.damaged()) << check.error;
  std::size_t unproven = 0;
  read_segment(at("a.h5"), {}, [&](std::uint64_t, Record&&) { ++unproven; });  // by whoever has no key
  EXPECT_GT(unproven, 0U);
}

TEST_F(Sealed, AForgedSegmentIsNotCounted) {
  const auto ours = episodes(1, 2);
  seal(write("a", ours));
  for (const SealKey& key : {SealKey(), kTheirs}) {
    seal(write("forged", episodes(7, 2), key), key);
    expect_unproven("forged.h5", ours);
    fs::remove_all(at("damaged"));
  }
}

TEST_F(Sealed, AForgedJournalIsNotCounted) {
  const auto ours = episodes(1, 2);
  seal(write("a", ours));
  for (const SealKey& key : {SealKey(), kTheirs}) {
    write("forged", episodes(7, 2), key);
    expect_unproven("forged.journal", ours);
    fs::remove_all(at("damaged"));
  }
}

TEST_F(Sealed, ARecordIsProvenOnlyInItsOwnPlaceOfItsOwnJournal) {
  write("a", {Begin{.id = some_id(1)}});
  write("b", {Begin{.id = some_id(2)}});
  // b's record, with its right CRCs and seal, behind a's: another journal. Twice in a's: another number.
  const auto a = read_file(at("a.journal")), b = read_file(at("b.journal"));
  const auto record_of = [](const std::string& bytes) {  // all behind the header's fragment
    return bytes.substr(kPrologueBytes + kHeadBytes + get<std::uint32_t>(bytes, kPrologueBytes + 16));
  };
  for (const auto& more : {record_of(b), record_of(a)}) {
    write_file_atomic(at("a.journal"), a + more);
    fs::remove(at("b.journal"));
    const auto got = read();
    EXPECT_EQ(got.records.size(), 1U);
  }
}

TEST_F(Sealed, EveryFlippedByteOfAJournalCostsItsRecordAtMost) {
  const auto records = episodes(1, 1);
  const auto journal = write("a", records);
  const auto bytes = read_file(journal);
  for (std::size_t at = 0; at < bytes.size(); at += 7) {
    auto damaged = bytes;
    damaged[at] ^= 0x10;
    write_file_atomic(journal, damaged);
    try {
      for (const auto& record : read().records)
        EXPECT_TRUE(std::any_of(records.begin(), records.end(), [&](const auto& r) { return test::same(r, record); }));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::corrupt);
    }
  }
}

TEST_F(Sealed, EveryFlippedByteOfASegmentIsSeen) {
  const auto records = episodes(1, 2);
  seal(write("a", records));
  const auto bytes = read_file(at("a.h5"));
  for (std::size_t place = 0; place < bytes.size(); place += 211) {
    auto damaged = bytes;
    damaged[place] ^= 0x01;
    write_file_atomic(at("a.h5"), damaged);
    try {
      const auto got = read();
      EXPECT_TRUE(!got.left_out.empty() || same_records(got.records, records)) << place;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::corrupt) << place;
    }
  }
}

TEST_F(Sealed, ASegmentThatWasWrittenOverIsRefusedWhateverItHolds) {
  seal(write("a", episodes(1, 2)));
  seal(write("forged", episodes(7, 2), SealKey()), SealKey());
  const auto ours = read_file(at("a.h5")), forged = read_file(at("forged.h5"));
  fs::remove(at("forged.h5"));
  const auto front = ours.substr(0, ours.find("\x89HDF"));
  write_file_atomic(at("a.h5"), front + forged);  // a true seal before a false file
  EXPECT_THROW(read(), Error);
  salvage(log());
  EXPECT_TRUE(read().records.empty()) << "nothing of it was sealed";
}

TEST_F(Sealed, PartsFollowTheOnesTheyWereSealedAfter) {
  const auto records = episodes(1, 6);
  seal(write("a", records), kOurs, kFewRows);
  const auto first = read_file(at("a.h5"));
  for (const auto& part : parts_of(folder_.path(), stem_of(folder_.path(), "a"))) fs::remove(part);
  seal(write("a", episodes(1, 7)), kOurs, {.rows = 6});
  ASSERT_TRUE(fs::exists(at("a.part2.h5")));
  write_file_atomic(at("a.h5"), first);  // the key's own, and of the same name and number: but of another chain
  EXPECT_THROW(read_log(log(), Texts::skip, {.begin = [](const Begin&) {}}), Error);
}

TEST_F(Sealed, APartThatWasRebuiltKeepsItsPlaceInTheChain) {
  const auto records = episodes(1, 14);
  seal(write("a", records), kOurs, kFewRows);
  ASSERT_TRUE(fs::exists(at("a.part3.h5")));
  for (const char* name : {"a.part2.h5", "a.h5"}) {
    auto bytes = read_file(at(name));
    bytes[bytes.size() / 2] ^= 0x20;
    write_file_atomic(at(name), bytes);
    salvage(log());
    for (const auto& check : check_log(log())) EXPECT_TRUE(check.error.empty()) << check.error;
    EXPECT_FALSE(read().records.empty());
  }
  fs::remove(at("a.part2.h5"));
  salvage(log());
  for (const auto& check : check_log(log())) EXPECT_TRUE(check.error.empty()) << check.error;
}

TEST_F(Sealed, ACutSegmentGivesWhatIsWholeAndNothingElse) {
  const auto records = episodes(1, 8);
  seal(write("a", records));
  const auto bytes = read_file(at("a.h5"));
  for (const std::size_t size : {bytes.size() - 1, bytes.size() * 3 / 4, bytes.size() / 2}) {
    fs::remove_all(at("damaged"));
    write_file_atomic(at("a.h5"), std::string_view(bytes).substr(0, size));
    salvage(log());
    for (const auto& record : read().records)
      EXPECT_TRUE(std::any_of(records.begin(), records.end(), [&](const auto& r) { return test::same(r, record); }));
  }
}

TEST_F(Sealed, CopiesAndRenamedFilesAreKnownAsEver) {
  const auto records = episodes(1, 2);
  seal(write("a", records));
  fs::copy_file(at("a.h5"), at("b.h5"));
  ASSERT_EQ(read().left_out.size(), 1U);
  EXPECT_EQ(read().left_out[0].why, Why::copy);
  fs::remove(at("a.h5"));
  salvage(log());
  EXPECT_TRUE(fs::exists(at("a.h5")));
  EXPECT_TRUE(same_records(read().records, records));
}

TEST_F(Sealed, AnAuditThatTheKeyDidNotSealIsNone) {
  const Audit audit{.scored = 3, .checked = 2, .disagreements = {{"e", "pass", "mismatch"}}, .compiler = "c"};
  write_audit(folder_.path(), kOurs, audit);
  const auto found = read_audit(folder_.path(), kOurs);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->checked, 2U);
  EXPECT_EQ(found->disagreements.at(0).now, "mismatch");
  EXPECT_FALSE(read_audit(folder_.path(), kTheirs));
  auto text = read_file(at("audit.json"));
  text.replace(text.find("\"checked\": 2"), 12, "\"checked\": 3");
  write_file_atomic(at("audit.json"), text);
  EXPECT_FALSE(read_audit(folder_.path(), kOurs));
}

TEST_F(Sealed, AnAuditThatNoKeySealedIsToldIfItSpeaksAgainstTheRunAlone) {
  write_audit(folder_.path(), SealKey(), {.scored = 3, .checked = 3, .compiler = "c"});
  EXPECT_FALSE(read_audit(folder_.path(), SealKey())) << "anybody may have written it";
  Audit against{.scored = 3, .checked = 3, .compiler = "c"};
  against.disagreements.push_back({"e", "pass", "mismatch"});
  write_audit(folder_.path(), SealKey(), against);
  EXPECT_TRUE(read_audit(folder_.path(), SealKey()));
}

}  // namespace
}  // namespace nkigrid::log
