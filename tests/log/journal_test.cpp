#include "runner/log/journal.hpp"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <thread>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/journal_reader.hpp"
#include "tests/cpu_time.hpp"
#include "tests/log/make_log.hpp"
#include "tests/log/records_equal.hpp"

namespace nkigrid::log {
namespace {
namespace fs = std::filesystem;
using test::same;
using test::some_records;

struct Read {
  JournalReport report;
  std::vector<std::uint64_t> sequences;
  std::vector<Record> records;

  void operator()(std::uint64_t sequence, Record&& record) {
    sequences.push_back(sequence);
    records.push_back(std::move(record));
  }
};
Read read(const fs::path& file) {
  Read result;
  result.report = read_journal(file, std::ref(result));
  return result;
}
/// Reads `bytes` as a journal of their own, in memory: sweeps would be slow on a busy disk.
Read read_bytes(std::string_view bytes) {
  const Fd fd(::memfd_create("journal", MFD_CLOEXEC));
  write_all(fd.get(), bytes, "changed.journal");
  ::lseek(fd.get(), 0, SEEK_SET);
  Read result;
  result.report = read_journal(fd, "changed.journal", Selection{}, std::ref(result));
  return result;
}

class JournalFile : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::vector<Record>& records) {
    Journal journal(folder_.path(), name, test::made_header());
    journal.append(records);
    journal.close();
    return journal.path();
  }
  TemporaryDirectory folder_;
};

/// The records of `got` are some of `all`, unchanged and in order.
bool is_subsequence(const std::vector<Record>& got, const std::vector<Record>& all) {
  std::size_t next = 0;
  for (const auto& record : got) {
    while (next < all.size() && !same(all[next], record)) ++next;
    if (next++ == all.size()) return false;
  }
  return true;
}

TEST_F(JournalFile, GivesBackEveryRecordInOrder) {
  const auto records = some_records(40'000);
  const auto got = read(write("a", records));
  ASSERT_EQ(got.records.size(), records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_TRUE(same(got.records[i], records[i])) << i;
    EXPECT_EQ(got.sequences[i], i + 1);
  }
  EXPECT_EQ(got.report.header.grid_hash, "made-grid-hash");
  EXPECT_EQ(got.report.header.host, "made-host");
  EXPECT_EQ(got.report.first_sequence, 1u);
  EXPECT_EQ(got.report.last_sequence, records.size());
  EXPECT_EQ(got.report.torn_tail_bytes + got.report.damaged_bytes + got.report.missing_records, 0u);
}

TEST_F(JournalFile, RecordsOfEverySizeAroundABlockBorderComeBack) {
  std::vector<Record> records;
  for (std::size_t size = 32'500; size < 33'000; size += 7) {
    Reply reply{.id = test::some_id(1), .turn = static_cast<std::uint32_t>(size)};
    reply.reply.assign(size, 'x');
    records.emplace_back(reply);
  }
  const auto got = read(write("a", records));
  ASSERT_EQ(got.records.size(), records.size());
  EXPECT_TRUE(is_subsequence(got.records, records));
  EXPECT_EQ(got.report.damaged_bytes, 0u);
}

TEST_F(JournalFile, CutAtEveryLengthGivesThePrefixAndNoDamage) {
  const auto records = some_records(100);
  const auto bytes = read_file(write("a", records));
  ASSERT_LT(bytes.size(), 20'000u);
  std::size_t last = 0;
  const auto head = read_file(write("b", {})).size();  // a name as long as the other's
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    if (length < head) {  // no writer leaves that: a journal is born with its head
      ASSERT_THROW(read_bytes(bytes.substr(0, length)), Error) << length;
      continue;
    }
    const auto got = read_bytes(bytes.substr(0, length));
    ASSERT_GE(got.records.size(), last) << length;
    last = got.records.size();
    ASSERT_EQ(got.report.damaged_bytes, 0u) << length;
    ASSERT_EQ(got.report.missing_records, 0u) << length;
    if (!got.records.empty()) {
      ASSERT_TRUE(same(got.records.back(), records[last - 1])) << length;
    }
  }
  EXPECT_EQ(last, records.size());
}

TEST_F(JournalFile, CutInsideARecordOfSeveralBlocksIsATornTail) {
  const auto records = some_records(100'000);
  const auto bytes = read_file(write("a", records));
  for (auto length = read_file(write("head", {})).size(); length < bytes.size(); length += 1009) {
    const auto got = read_bytes(bytes.substr(0, length));
    ASSERT_EQ(got.report.damaged_bytes, 0u) << length;
    for (std::size_t i = 0; i < got.records.size(); ++i) ASSERT_TRUE(same(got.records[i], records[i]));
  }
}

TEST_F(JournalFile, EveryFlippedByteIsReportedAndCostsOnlyWhatItTouched) {
  const auto records = some_records(100);
  const auto bytes = read_file(write("a", records));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    auto changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    try {
      const auto got = read_bytes(changed);
      ASSERT_TRUE(got.report.damaged()) << at;
      ASSERT_TRUE(is_subsequence(got.records, records)) << at;
    } catch (const Error& error) {  // the one block of a small file, and all that is in it
      ASSERT_EQ(error.code(), ErrorCode::corrupt) << at;
      ASSERT_LT(at, 40U);
    }
  }
}

TEST_F(JournalFile, AFlippedByteOfDataCostsOneRecord) {
  auto records = some_records(10);
  std::get<Reply>(records[1]).reply = "MARKED";
  auto bytes = read_file(write("a", records));
  bytes[bytes.find("MARKED")] = 'X';
  const auto got = read_bytes(bytes);
  EXPECT_EQ(got.records.size(), records.size() - 1);
  EXPECT_TRUE(is_subsequence(got.records, records));
  EXPECT_EQ(got.report.missing_records, 1u);
}

std::vector<Record> many_records() {
  std::vector<Record> records;
  for (int i = 0; i < 400; ++i) {
    Reply reply{.id = test::some_id(1), .turn = static_cast<std::uint32_t>(i + 1)};
    reply.reply.assign(700, static_cast<char>('a' + i % 26));
    records.emplace_back(reply);
  }
  return records;
}

TEST_F(JournalFile, ReadingGoesOnAfterAZeroedBlock) {
  const auto records = many_records();
  auto bytes = read_file(write("a", records));
  ASSERT_GT(bytes.size(), 5 * 32'768u);
  std::fill_n(bytes.begin() + 2 * 32'768, 32'768, '\0');
  const auto got = read_bytes(bytes);
  EXPECT_TRUE(is_subsequence(got.records, records));
  EXPECT_LE(records.size() - got.records.size(), 32'768u / 700 + 2);
  EXPECT_TRUE(same(got.records.back(), records.back()));
  EXPECT_GE(got.report.damaged_bytes, 32'768u);
  EXPECT_EQ(got.report.missing_records, records.size() - got.records.size());
}

TEST_F(JournalFile, ALyingLengthCostsItsBlockOnly) {
  const auto records = many_records();
  auto bytes = read_file(write("a", records));
  bytes[32'768 + 18] = '\x7f';  // third byte of the length in the second block's first fragment
  const auto got = read_bytes(bytes);
  EXPECT_TRUE(is_subsequence(got.records, records));
  EXPECT_LE(records.size() - got.records.size(), 32'768u / 700 + 2);
  EXPECT_TRUE(same(got.records.back(), records.back()));
  EXPECT_TRUE(got.report.damaged());
}

TEST_F(JournalFile, ZerosUpToTheEndAreATornTail) {
  const auto records = some_records(50);
  const auto bytes = read_file(write("a", records));
  for (const std::size_t zeros : {1, 24, 4096, 100'000}) {
    const auto got = read_bytes(bytes + std::string(zeros, '\0'));
    EXPECT_EQ(got.records.size(), records.size());
    EXPECT_EQ(got.report.damaged_bytes, 0u) << zeros;
    EXPECT_EQ(got.report.torn_tail_bytes, zeros);
  }
}

/// Minutes of reading zeros that nobody wrote, were they read: the journal goes on behind 64 GB.
TEST_F(JournalFile, AHoleIsNotRead) {
  const auto records = many_records();
  const auto whole = read_file(write("a", records));
  const auto cut = folder_.path() / "hole.journal";
  constexpr std::uint64_t kHole = std::uint64_t{64} << 30;
  constexpr std::size_t kBlock = 32'768;
  for (const std::size_t before : {std::size_t{0}, 2 * kBlock}) {
    fs::remove(cut);
    write_file_atomic(cut, whole.substr(0, before));
    fs::resize_file(cut, before + kHole);
    std::ofstream(cut, std::ios::app | std::ios::binary) << whole.substr(before == 0 ? kBlock : before);
    JournalReport report;
    std::size_t seen = 0;
    const auto seconds =
        test::cpu_seconds_of([&] { report = read_journal(cut, [&](std::uint64_t, Record&&) { ++seen; }); });
    EXPECT_LT(seconds, 1.0);
    EXPECT_GE(seen, records.size() - 60);
    EXPECT_GE(report.damaged_bytes, kHole);
  }
}

TEST_F(JournalFile, AFileThatIsOneHoleIsNoJournal) {
  const auto file = folder_.path() / "hole.journal";
  write_file_atomic(file, "");
  fs::resize_file(file, std::uint64_t{64} << 30);
  const auto seconds =
      test::cpu_seconds_of([&] { EXPECT_THROW(read_journal(file, [](std::uint64_t, Record&&) {}), Error); });
  EXPECT_LT(seconds, 1.0);
}

TEST_F(JournalFile, ARemovedBlockIsReportedAsMissingRecords) {
  const auto records = many_records();
  auto bytes = read_file(write("a", records));
  bytes.erase(2 * 32'768, 32'768);
  const auto got = read_bytes(bytes);
  EXPECT_TRUE(is_subsequence(got.records, records));
  EXPECT_EQ(got.report.missing_records, records.size() - got.records.size());
}

TEST_F(JournalFile, ARepeatedBlockIsNotReadTwice) {
  const auto records = many_records();
  auto bytes = read_file(write("a", records));
  bytes.insert(3 * 32'768, bytes.substr(2 * 32'768, 32'768));
  const auto got = read_bytes(bytes);
  EXPECT_TRUE(is_subsequence(got.records, records));
  EXPECT_TRUE(got.report.damaged());
}

TEST_F(JournalFile, TextThatLooksLikeAFrameIsNeverARecord) {
  const auto inner = read_file(write("inner", some_records(10)));
  Reply reply{.id = test::some_id(9), .turn = 1};
  reply.reply = inner;
  auto bytes = read_file(write("a", {reply}));
  const auto head = bytes.find(inner) - 60;  // somewhere in the outer record, before the copy
  bytes[head] = static_cast<char>(bytes[head] ^ 1);
  const auto got = read_bytes(bytes);
  EXPECT_TRUE(got.records.empty());
  EXPECT_TRUE(got.report.damaged());
}

/// The same prologue with another version, and the checksum that goes with it.
std::string of_version(std::string bytes, char major, char minor) {
  bytes[8] = major, bytes[10] = minor;
  const auto sum = static_cast<std::uint32_t>(::crc32(0, reinterpret_cast<const unsigned char*>(bytes.data()), 12));
  std::memcpy(bytes.data() + 12, &sum, 4);
  return bytes;
}

TEST_F(JournalFile, WithoutAKeyIsOfTheVersionThatReadersWithoutSealsKnow) {
  EXPECT_EQ(read_file(write("a", {}))[10], 1);
  Journal sealed(folder_.path(), "b", test::made_header(), SealKey(std::string(64, 'a')));
  EXPECT_EQ(read_file(sealed.path())[10], 2);
}

TEST_F(JournalFile, APrologueThatIsDamagedCostsNoRecord) {
  auto records = some_records(40'000, 1);
  const auto bytes = read_file(write("a", records));
  for (std::size_t at = 0; at < 16; ++at) {
    for (const char bits : {'\x01', '\x80', '\xff'}) {
      auto changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ bits);
      const auto got = read_bytes(changed);
      EXPECT_EQ(got.records.size(), records.size()) << at;
      EXPECT_TRUE(got.report.damaged()) << at;
      EXPECT_EQ(got.report.missing_records, 0U) << at;
    }
  }
  auto zeroed = bytes;  // the first block is gone as a whole: those after it prove themselves
  zeroed.replace(0, 32'768, 32'768, '\0');
  EXPECT_TRUE(read_bytes(zeroed).report.damaged());
}

TEST_F(JournalFile, WhatIsNoJournalAndOtherVersionsAreRefusedByName) {
  const auto bytes = read_file(write("a", {}));
  const std::string magic = "XKIGJRNL" + std::string(100, 'x');
  const auto major = of_version(bytes, 2, 0), minor = of_version(bytes, 1, 3);
  const auto message = [&](const std::string& changed) -> std::string {
    try {
      read_bytes(changed);
    } catch (const Error& error) {
      return error.code() == ErrorCode::corrupt ? error.what() : "wrong code";
    }
    return "no error";
  };
  EXPECT_THAT(message(magic),
              testing::AllOf(testing::HasSubstr("not a journal"), testing::HasSubstr("changed.journal")));
  EXPECT_THAT(message(major), testing::HasSubstr("version 2.0"));
  EXPECT_THAT(message(minor), testing::HasSubstr("version 1.3"));
}

/// The page docs/formats/journal.md is complete: a reader written from it, in Python, agrees.
TEST_F(JournalFile, AReaderWrittenFromTheFormatPageFindsTheSame) {
  auto records = some_records(40'000, 1);
  for (auto& record : some_records(10, 2)) records.push_back(record);
  const auto path = write("a", records);
  const auto out = folder_.path() / "out";
  const auto command = std::string(NKIGRID_PYTHON) + " " + NKIGRID_SOURCE_DIR + "/tests/log/read_journal.py " +
                       path.native() + " > " + out.native();
  ASSERT_EQ(std::system(command.c_str()), 0);
  const char* kinds[] = {"begin", "reply", "turn", "end"};
  std::istringstream lines(read_file(out));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "0 header made-grid-hash");
  for (std::size_t i = 0; i < records.size(); ++i) {
    ASSERT_TRUE(std::getline(lines, line));
    const auto prefix = std::to_string(i + 1) + " " + kinds[records[i].index()] + " novice.ss.naive L1/012_gelu " +
                        std::to_string(i / 4 + 1) + " 0123456789abcdef 1 ";
    EXPECT_TRUE(line.starts_with(prefix)) << line;
    EXPECT_GT(std::stoul(line.substr(prefix.size())), i == 2 ? 80'000u : 30u);
  }
  EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(JournalFile, ASecondWriterOfTheSameNameIsRefused) {
  Journal first(folder_.path(), "a", test::made_header());
  try {
    Journal second(folder_.path(), "a", test::made_header());
    FAIL() << "opened twice";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_THAT(error.what(), testing::HasSubstr("a.journal"));
  }
  first.append(some_records(1).front());
  first.close();
  EXPECT_EQ(read(first.path()).records.size(), 1u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 1) << "litter was left";
}

TEST_F(JournalFile, TheNextOwnerCannotReopenAnOldFile) {
  const auto path = write("a", some_records(1));
  const auto before = read_file(path);
  EXPECT_THROW(Journal(folder_.path(), "a", test::made_header()), Error);
  EXPECT_EQ(read_file(path), before);
}

TEST_F(JournalFile, AppendAfterCloseIsAnErrorOfTheCaller) {
  Journal journal(folder_.path(), "a", test::made_header());
  journal.close();
  journal.close();
  try {
    journal.append(some_records(1).front());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::internal);
  }
}

TEST_F(JournalFile, ManyThreadsAreEachAcknowledgedOnceAndInTheirOwnOrder) {
  constexpr int kThreads = 16, kEach = 100;
  Journal journal(folder_.path(), "a", test::made_header());
  {
    std::vector<std::jthread> lanes;
    for (int lane = 0; lane < kThreads; ++lane) {
      lanes.emplace_back([&, lane] {
        for (int n = 1; n <= kEach; ++n) {
          Turn turn{.id = test::some_id(static_cast<std::uint32_t>(lane + 1)), .turn = static_cast<std::uint32_t>(n)};
          turn.kernel.assign(static_cast<std::size_t>(n * 37 % 5000), 'k');
          journal.append(turn);
        }
      });
    }
  }
  journal.close();
  std::map<std::uint32_t, std::uint32_t> newest;
  const auto got = read(journal.path());
  for (const auto& record : got.records) {
    const auto& turn = std::get<Turn>(record);
    EXPECT_EQ(turn.turn, ++newest[turn.id.episode.replicate]);
  }
  EXPECT_EQ(got.records.size(), static_cast<std::size_t>(kThreads * kEach));
  EXPECT_FALSE(got.report.damaged());
}

}  // namespace
}  // namespace nkigrid::log
