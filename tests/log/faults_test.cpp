// What a full disk, a read-only disk and kill -9 leave behind.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <thread>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/journal.hpp"
#include "runner/log/journal_reader.hpp"
#include "runner/log/reader.hpp"
#include "runner/log/segment.hpp"
#include "tests/log/make_log.hpp"
#include "tests/log/records_equal.hpp"

namespace nkigrid::log {
namespace {
namespace fs = std::filesystem;
using test::some_id;

Record numbered(std::uint32_t lane, std::uint32_t number, std::size_t bytes = 3000) {
  Turn turn{.id = some_id(lane), .turn = number};
  for (std::size_t i = 0; i < bytes; ++i) turn.kernel += static_cast<char>(number * 31 + i * i);
  return turn;
}

/// Appends until it fails; what was acknowledged before. @param why the failure's text
std::vector<Record> append_until_failure(Journal& journal, std::string& why) {
  std::vector<Record> acknowledged;
  for (std::uint32_t n = 1; n < 10'000; ++n) {
    const auto record = numbered(1, n);
    try {
      journal.append(record);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io);
      why = error.what();
      return acknowledged;
    }
    acknowledged.push_back(record);
  }
  ADD_FAILURE() << "the disk never filled up";
  return acknowledged;
}

void expect_exactly(const fs::path& file, const std::vector<Record>& expected) {
  std::vector<Record> got;
  const auto report = read_journal(file, [&](std::uint64_t, Record&& record) { got.push_back(std::move(record)); });
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(test::same(got[i], expected[i])) << i;
  EXPECT_FALSE(report.damaged());
  EXPECT_EQ(report.torn_tail_bytes, 0u) << "the failed batch was not cut back";
}

/// The journal was poisoned by `why`: it stays so, and says so.
void expect_poisoned(Journal& journal, const std::string& why) {
  for (int i = 0; i < 2; ++i) {
    try {
      journal.append(numbered(1, 1, 1));
      ADD_FAILURE() << "a poisoned writer took a record";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io);
      EXPECT_EQ(error.what(), why);
    }
  }
  EXPECT_THROW(journal.close(), Error);
}

/// Files may grow to `bytes` while this lives: a disk that fills up, without a mount.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    ::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_{};
  void (*old_handler_)(int);
};

TEST(Faults, AFailedWritePoisonsTheWriterAndLeavesWhatWasAcknowledged) {
  TemporaryDirectory folder;
  Journal journal(folder.path(), "a", test::made_header());
  std::string why;
  std::vector<Record> acknowledged;
  {
    FileSizeLimit limit(200'000);
    acknowledged = append_until_failure(journal, why);
  }
  EXPECT_GT(acknowledged.size(), 20u);
  EXPECT_THAT(why, testing::AllOf(testing::HasSubstr("a.journal"), testing::HasSubstr("too large")));
  expect_poisoned(journal, why);  // although there is room again
  expect_exactly(journal.path(), acknowledged);
}

class SmallDisk : public testing::Test {
 protected:
  void SetUp() override {
    if (::mount("nkigrid-test", folder_.path().c_str(), "tmpfs", 0, "size=512k") != 0)
      GTEST_SKIP() << "mount is refused here";
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  void remount(unsigned long flags, const char* options) {
    ASSERT_EQ(::mount("nkigrid-test", folder_.path().c_str(), "tmpfs", MS_REMOUNT | flags, options), 0);
  }
  TemporaryDirectory folder_;
  bool mounted_ = false;
};

TEST_F(SmallDisk, AFullDiskIsOneClearErrorAndLosesNothing) {
  Journal journal(folder_.path(), "a", test::made_header());
  std::string why;
  const auto acknowledged = append_until_failure(journal, why);
  EXPECT_THAT(why, testing::AllOf(testing::HasSubstr("a.journal"), testing::HasSubstr("No space left")));
  expect_poisoned(journal, why);
  expect_exactly(journal.path(), acknowledged);

  // Sealing needs room too: it fails, says so, and the journal is as it was.
  try {
    seal_journal(journal.path(), true);
    ADD_FAILURE() << "sealed on a full disk";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_THAT(error.what(), testing::HasSubstr("a.h5"));
  }
  expect_exactly(journal.path(), acknowledged);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 1) << "litter was left";

  // With room again, a new file goes on.
  remount(0, "size=8m");
  Journal next(folder_.path(), "b", test::made_header());
  next.append(numbered(2, 1));
  next.close();
  EXPECT_EQ(seal_all(test::made_log(folder_.path())).size(), 2u);
  std::size_t turns = 0;
  LogVisitor visitor;
  visitor.turn = [&](const Turn&) { ++turns; };
  read_log(test::made_log(folder_.path()), Texts::skip, visitor);
  EXPECT_EQ(turns, acknowledged.size() + 1);
}

TEST_F(SmallDisk, AReadOnlyDiskIsReadableAndRefusesAWriterByName) {
  {
    Journal journal(folder_.path(), "a", test::made_header());
    journal.append(numbered(1, 1));
  }
  remount(MS_RDONLY, "size=512k");
  try {
    Journal journal(folder_.path(), "b", test::made_header());
    FAIL() << "opened a journal on a read-only disk";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("b.journal"), testing::HasSubstr("Read-only")));
  }
  expect_exactly(folder_.path() / "a.journal", {numbered(1, 1)});
  EXPECT_THROW(seal_all(test::made_log(folder_.path())), Error);
}

struct Acknowledged {
  std::uint32_t lane, number;
};

/// A writing process: four lanes append for ever and say through the pipe what was acknowledged.
[[noreturn]] void write_for_ever(const fs::path& folder, int pipe) {
  try {
    Journal journal(folder, "child", test::made_header());
    std::vector<std::jthread> lanes;
    for (std::uint32_t lane = 1; lane <= 4; ++lane) {
      lanes.emplace_back([&journal, lane, pipe] {
        for (std::uint32_t n = 1;; ++n) {
          journal.append(numbered(lane, n, lane * 700 + n % 13 * 900));
          const Acknowledged word{lane, n};
          if (::write(pipe, &word, sizeof word) != sizeof word) ::_exit(0);
        }
      });
    }
    lanes.clear();
  } catch (...) {
  }
  ::_exit(1);
}

/// Kills the child after `words` acknowledgements; then all that were sent, read to the pipe's end.
std::vector<Acknowledged> acknowledged_before_kill(const fs::path& folder, std::size_t words) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    write_for_ever(folder, ends[1]);
  }
  ::close(ends[1]);
  std::vector<Acknowledged> all;
  Acknowledged word{};
  while (::read(ends[0], &word, sizeof word) == static_cast<ssize_t>(sizeof word)) {
    all.push_back(word);
    if (all.size() == words) ::kill(child, SIGKILL);
  }
  ::close(ends[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
  return all;
}

TEST(Faults, Kill9LosesNothingThatWasAcknowledged) {
  for (const std::size_t words : {1, 2, 3, 7, 20, 41, 77, 150, 233, 400}) {
    TemporaryDirectory folder;
    const auto acknowledged = acknowledged_before_kill(folder.path(), words);
    ASSERT_GE(acknowledged.size(), words);
    std::map<std::uint32_t, std::uint32_t> newest;
    const auto report = read_journal(folder.path() / "child.journal", [&](std::uint64_t, Record&& record) {
      const auto& turn = std::get<Turn>(record);
      ASSERT_EQ(turn.turn, ++newest[turn.id.episode.replicate]) << "lost, twice, or out of order";
    });
    EXPECT_FALSE(report.damaged());
    for (const auto& [lane, number] : acknowledged) ASSERT_LE(number, newest[lane]);
    EXPECT_EQ(seal_all(test::made_log(folder.path())).size(), 1u) << "a dead writer's lock is gone";
    std::size_t sealed = 0;
    LogVisitor visitor;
    visitor.turn = [&](const Turn&) { ++sealed; };
    read_log(test::made_log(folder.path()), Texts::load, visitor);
    EXPECT_EQ(sealed, report.records);
  }
}

}  // namespace
}  // namespace nkigrid::log
