#include "runner/log/check.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "jobs/base/files.hpp"
#include "runner/log/file_lock.hpp"
#include "runner/log/journal.hpp"
#include "runner/log/segment.hpp"
#include "tests/log/make_log.hpp"
#include "tests/log/records_equal.hpp"

namespace nkigrid::log {
namespace {

class Check : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, std::uint32_t replicate = 1) {
    Journal journal(folder_.path(), name, test::made_header());
    journal.append(test::some_records(50, replicate));
    journal.close();
    return journal.path();
  }
  TemporaryDirectory folder_;
};

TEST_F(Check, ASoundLogIsCountedAndNotDamaged) {
  seal_journal(write("a"), true);
  write("b", 2);
  const auto checks = check_log(test::made_log(folder_.path()));
  ASSERT_EQ(checks.size(), 2u);
  for (const auto& check : checks) {
    EXPECT_FALSE(check.damaged());
    EXPECT_EQ(check.records, 4u);
    EXPECT_EQ(check.first_sequence, 1u);
    EXPECT_EQ(check.last_sequence, 4u);
  }
  EXPECT_EQ(checks[0].file.filename(), "a.h5");
}

TEST_F(Check, TornTailsAreNoDamageButFlippedBytesAndForeignFilesAre) {
  const auto torn = write("torn");
  const auto bytes = read_file(torn);
  std::ofstream(torn, std::ios::binary | std::ios::trunc) << bytes.substr(0, bytes.size() - 4);
  auto flipped = bytes;
  flipped[60] = static_cast<char>(flipped[60] ^ 1);
  std::ofstream(folder_.path() / "flipped.journal", std::ios::binary) << flipped;
  std::ofstream(folder_.path() / "foreign.journal") << "not a journal at all";
  std::ofstream(folder_.path() / "foreign.h5") << "not a segment at all";
  const auto checks = check_log(test::made_log(folder_.path()));
  ASSERT_EQ(checks.size(), 4u);
  EXPECT_TRUE(checks[0].damaged() && checks[0].error.empty()) << checks[0].file;
  EXPECT_THAT(checks[1].error, testing::HasSubstr("foreign.h5"));
  EXPECT_THAT(checks[2].error, testing::HasSubstr("not a journal"));
  EXPECT_FALSE(checks[3].damaged());
  EXPECT_GT(checks[3].torn_tail_bytes, 0u);
}

TEST_F(Check, ALivingWriterIsSeenByItsLock) {
  EXPECT_FALSE(has_living_writer(folder_.path()));
  Journal journal(folder_.path(), "a", test::made_header());
  EXPECT_TRUE(has_living_writer(folder_.path()));
  journal.close();
  EXPECT_FALSE(has_living_writer(folder_.path()));
}

}  // namespace
}  // namespace nkigrid::log
