#include "runner/log/segment.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/hdf5.hpp"
#include "runner/log/segment_reader.hpp"
#include "runner/log/set_aside.hpp"
#include "tests/cpu_time.hpp"
#include "tests/log/make_log.hpp"
#include "tests/log/records_equal.hpp"

namespace nkigrid::log {
namespace {
namespace fs = std::filesystem;
using test::same;
using test::some_id;
using test::some_records;

class Segment : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::vector<Record>& records) {
    Journal journal(folder_.path(), name, test::made_header());
    journal.append(records);
    journal.close();
    return journal.path();
  }
  static std::vector<Record> read(const fs::path& file, const Selection& selection = {}) {
    std::vector<Record> records;
    read_segment(file, selection, [&](std::uint64_t, Record&& record) { records.push_back(std::move(record)); });
    return records;
  }
  /// The same records, in whatever order: a segment's is its own.
  static bool all_same(const std::vector<Record>& a, const std::vector<Record>& b) {
    return a.size() == b.size() && std::is_permutation(a.begin(), a.end(), b.begin(), same);
  }
  TemporaryDirectory folder_;
};

/// Two interleaved lanes, one of which dies after a reply; a turn whose reply was lost; an attempt that was
/// only begun.
std::vector<Record> crowded() {
  auto a = some_records(300, 1), b = some_records(200'000, 2);
  std::vector<Record> records;
  for (std::size_t i = 0; i < a.size(); ++i) records.push_back(a[i]), records.push_back(b[i]);
  records.emplace_back(Begin{.id = some_id(3), .node = "node9", .started = 5});
  records.emplace_back(
      Reply{.id = some_id(3), .turn = 1, .request = "q", .reply = "the reply nobody answered", .llm_s = 2});
  records.emplace_back(Turn{.id = some_id(4), .turn = 7, .kernel = "k", .tool_output = ""});
  records.emplace_back(Begin{.id = some_id(5, 2), .inherited_turns = 4});
  return records;
}

TEST_F(Segment, GivesBackEveryRecordEqual) {
  const auto records = crowded();
  const auto segment = seal_journal(write("a", records), false);
  EXPECT_EQ(segment, folder_.path() / "a.h5");
  EXPECT_TRUE(all_same(read(segment), records));
}

TEST_F(Segment, KeepsRepliesWithoutATurnAndAttemptsWithoutAnEnd) {
  const std::vector<Record> records = {Begin{.id = some_id(3)},
                                       Reply{.id = some_id(3), .turn = 1, .reply = "paid for"}};
  const auto got = read(seal_journal(write("a", records), true));
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(std::get<Reply>(got[1]).reply, "paid for");
}

TEST_F(Segment, AJournalWithoutARecordGoesAndLeavesNoSegment) {
  const auto journal = write("a", {});
  EXPECT_EQ(seal_journal(journal, false), "");
  EXPECT_TRUE(fs::exists(journal));
  EXPECT_EQ(seal_journal(journal, true), "");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  EXPECT_EQ(seal_journal(journal, true), "") << "somebody else removed it";
}

TEST_F(Segment, OfNoRecordIsWholeAndSaysWhoseItIs) {
  SegmentBuilder builder;
  SegmentReport about;
  about.header = test::made_header();
  const auto segment = folder_.path() / "a.h5";
  std::ofstream(segment, std::ios::binary) << builder.finish(about);
  EXPECT_TRUE(read(segment).empty());
  const auto header = read_segment_header(segment);
  EXPECT_EQ(header.header.run_id, "made-run");
  EXPECT_EQ(header.seq_last, 0u);
  EXPECT_TRUE(header.carried.empty());
}

TEST_F(Segment, WithoutTextsOnlyTextsAreEmpty) {
  const auto records = some_records(100);
  const auto got = read(seal_journal(write("a", records), false), {.with_texts = false});
  ASSERT_EQ(got.size(), 4u);
  EXPECT_EQ(std::get<Reply>(got[1]).reply, "");
  EXPECT_EQ(std::get<Reply>(got[1]).tokens_in, 1000u);
  EXPECT_EQ(std::get<Turn>(got[2]).kernel, "");
  EXPECT_EQ(std::get<Turn>(got[2]).code, Code::numeric_mismatch);
  EXPECT_EQ(std::get<End>(got[3]).reason, "");
  EXPECT_EQ(std::get<End>(got[3]).outcome, Outcome::mismatch);
}

TEST_F(Segment, SelectionReadsTheWantedAttemptsAlone) {
  Selection selection;
  selection.wanted = [](const AttemptId& id) { return id.episode.replicate == 3; };
  const auto got = read(seal_journal(write("a", crowded()), false), selection);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(std::get<Reply>(got[1]).reply, "the reply nobody answered");
}

TEST_F(Segment, StoresTextsThatRepeatOnce) {
  std::vector<Record> once, often;
  std::string kernel;
  for (int i = 0; i < 4000; ++i) kernel += std::to_string(i * 7919);
  for (std::uint32_t n = 1; n <= 200; ++n) {
    Turn turn{.id = some_id(1), .turn = n, .kernel = kernel};
    if (n == 1) once.emplace_back(turn);
    often.emplace_back(turn);
  }
  const auto small = h5::open_file(seal_journal(write("once", once), false));
  const auto big = h5::open_file(seal_journal(write("often", often), false));
  EXPECT_EQ(h5::rows_of(h5::open_group(small, "/"), "text"), kernel.size());
  EXPECT_EQ(h5::rows_of(h5::open_group(big, "/"), "text"), kernel.size());
}

TEST_F(Segment, JournalGoesOnlyWhenEachAttemptHasEnded) {
  const auto ended = write("ended", some_records(10));
  seal_journal(ended, true);
  EXPECT_FALSE(fs::exists(ended));
  const auto open = write("open", {Begin{.id = some_id(2)}});
  seal_journal(open, true);
  EXPECT_TRUE(fs::exists(open));
  EXPECT_TRUE(fs::exists(folder_.path() / "open.h5"));
}

TEST_F(Segment, JournalGoesOnceTheAttemptIsTakenOverElsewhere) {
  const auto first =
      write("first", {Begin{.id = some_id(2, 1)}, Reply{.id = some_id(2, 1), .turn = 1, .reply = "kept"}});
  seal_all(test::made_log(folder_.path()));
  EXPECT_TRUE(fs::exists(first));
  auto other_key = some_id(2, 2);
  other_key.key = "ffffffffffffffff";
  write("unrelated", {Begin{.id = other_key}, Begin{.id = some_id(3, 2)}});
  seal_all(test::made_log(folder_.path()));
  EXPECT_TRUE(fs::exists(first));
  write("second", {Begin{.id = some_id(2, 2)}});
  seal_all(test::made_log(folder_.path()));
  EXPECT_FALSE(fs::exists(first));
  EXPECT_EQ(std::get<Reply>(read(folder_.path() / "first.h5").at(1)).reply, "kept");
}

/// Owners that died each leave a journal with an attempt that has no end.
TEST_F(Segment, SealingAFolderCostsByItsJournals) {
  std::map<int, double> seconds;
  for (const int journals : {40, 160}) {
    const TemporaryDirectory folder;
    for (int i = 0; i < journals; ++i) {
      Journal journal(folder.path(), "j" + std::to_string(i), test::made_header());
      journal.append({Begin{.id = some_id(1, static_cast<std::uint32_t>(i) + 1)}});
      journal.close();
    }
    seconds[journals] = test::cpu_seconds_of([&] { seal_all(test::made_log(folder.path())); });
  }
  EXPECT_LT(seconds[160], 8 * seconds[40]) << "four times as many";
}

TEST_F(Segment, ADamagedJournalIsSealedAndSetAsideWithANote) {
  const auto journal = write("a", some_records(10));
  auto bytes = read_file(journal);
  bytes[bytes.size() - 3] = static_cast<char>(bytes[bytes.size() - 3] ^ 1);
  std::ofstream(journal, std::ios::binary) << bytes;
  const auto segment = seal_journal(journal, true);
  EXPECT_FALSE(fs::exists(journal));
  EXPECT_EQ(read_file(folder_.path() / "damaged/a.journal"), bytes);
  EXPECT_EQ(read(segment).size(), 3u);
  const auto damaged = read_segment_header(segment).damaged_bytes;
  EXPECT_GT(damaged, 0u);
  const auto notes = read_notes(folder_.path());
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].file, "a.journal");
  EXPECT_EQ(notes[0].records, 3u);
  EXPECT_EQ(notes[0].damaged_bytes, damaged);
}

TEST_F(Segment, ALivingWritersJournalIsLeftAlone) {
  Journal journal(folder_.path(), "a", test::made_header());
  for (const auto& record : some_records(10)) journal.append(record);
  EXPECT_TRUE(seal_all(test::made_log(folder_.path())).empty());
  try {
    seal_journal(journal.path(), true, Seconds(0));
    FAIL() << "sealed a living writer's journal";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_THAT(error.what(), testing::HasSubstr("a.journal"));
  }
  journal.close();
  EXPECT_EQ(seal_all(test::made_log(folder_.path())).size(), 1u);
  EXPECT_FALSE(fs::exists(journal.path()));
}

TEST_F(Segment, SealersThatMeetDoNotFailEachOther) {
  std::vector<fs::path> journals;
  for (int i = 0; i < 6; ++i)
    journals.push_back(write("j" + std::to_string(i), some_records(50'000, static_cast<std::uint32_t>(i + 1))));
  {
    std::vector<std::jthread> sealers;
    for (int i = 0; i < 3; ++i) sealers.emplace_back([&] { seal_all(test::made_log(folder_.path())); });
    for (const auto& journal : journals) EXPECT_NO_THROW(seal_journal(journal, true));
  }
  for (const auto& journal : journals) {
    EXPECT_FALSE(fs::exists(journal));
    EXPECT_EQ(read(fs::path(journal).replace_extension(".h5")).size(), 4u);
  }
}

TEST_F(Segment, SealingAgainChangesNothing) {
  const auto journal = write("a", {Begin{.id = some_id(2)}});
  const auto segment = seal_journal(journal, true);
  const auto written = fs::last_write_time(segment);
  EXPECT_TRUE(seal_all(test::made_log(folder_.path())).empty());
  EXPECT_EQ(fs::last_write_time(segment), written);
  fs::remove(journal);
  EXPECT_EQ(seal_journal(journal, true), segment) << "somebody else removed it";
}

TEST_F(Segment, LeavesNoTemporaryFilesAndPrintsNothing) {
  testing::internal::CaptureStderr();
  seal_journal(write("a", crowded()), true);
  std::ofstream(folder_.path() / "bad.h5") << "this is no HDF5 file";
  EXPECT_THROW(read(folder_.path() / "bad.h5"), Error);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 3);
}

TEST_F(Segment, ACutFileIsCorruptByName) {
  const auto segment = seal_journal(write("a", crowded()), false);
  const auto bytes = read_file(segment);
  const auto cut = folder_.path() / "cut.h5";
  for (std::size_t length = 0; length < bytes.size(); length += bytes.size() / 40) {
    std::ofstream(cut, std::ios::binary | std::ios::trunc) << bytes.substr(0, length);
    try {
      read(cut);
      FAIL() << "read a file cut to " << length;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::corrupt);
      EXPECT_THAT(error.what(), testing::HasSubstr("cut.h5"));
    }
  }
}

TEST_F(Segment, AFlippedByteNeverCrashesAndNeverChangesATextUnseen) {
  const auto records = some_records(3000);
  const auto bytes = read_file(seal_journal(write("a", records), false));
  const auto flipped = folder_.path() / "flipped.h5";
  int refused = 0;
  for (std::size_t at = 0; at < bytes.size(); at += bytes.size() / 150 + 1) {
    auto changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x04);
    std::ofstream(flipped, std::ios::binary | std::ios::trunc) << changed;
    try {
      const auto got = read(flipped);
      ASSERT_TRUE(all_same(got, records)) << at;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::corrupt) << at;
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);
}

TEST_F(Segment, AVisitorsOwnErrorPassesThroughUnchanged) {
  const auto segment = seal_journal(write("a", some_records(10)), false);
  try {
    read_segment(segment, {}, [](std::uint64_t, Record&&) { throw Error(ErrorCode::corrupt, "mine"); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "mine");
  }
}

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * 4096;
}

TEST_F(Segment, FailedOpensLeakNoErrorStack) {
  const auto open_many = [&](int count) {
    for (int i = 0; i < count; ++i) EXPECT_THROW(read_segment_header(folder_.path() / "absent.h5"), Error);
  };
  open_many(500);  // whatever HDF5 keeps for good
  const auto before = resident_bytes();
  open_many(3000);
  EXPECT_LT(resident_bytes() - std::min(before, resident_bytes()), std::size_t{3} << 20)
      << "1.9 kB each would be 5.7 MB";
}

/// Stock h5py, which shares no code with us, checks columns, types, filters and values.
TEST_F(Segment, StockH5pyFindsTheContractsColumnsAndValues) {
  const auto segment = seal_journal(write("a", crowded()), false);
  const auto command =
      std::string(NKIGRID_PYTHON) + " " + NKIGRID_SOURCE_DIR + "/tests/log/check_segment.py " + segment.native();
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace nkigrid::log
