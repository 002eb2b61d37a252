// A sealed segment that is damaged: whose it is, which block is bad, how much one byte costs.
#include "runner/log/front_seal.hpp"

#include <gmock/gmock.h>

#include <fmt/core.h>

#include <algorithm>
#include <random>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/check.hpp"
#include "runner/log/salvage.hpp"
#include "runner/log/segment.hpp"
#include "runner/log/segment_reader.hpp"
#include "tests/log/walked_log.hpp"

namespace nkigrid::log {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;
using Why = LeftOut::Why;

constexpr std::size_t kTextChunk = 256 * 1024;  // bytes of text that HDF5 deflates together (docs/formats/segment.md)
constexpr std::uint32_t kEpisodes = 40;

/// Begins, replies and turns whose texts nothing compresses: the file is about as long as they are.
std::vector<Record> incompressible(std::uint32_t episodes, std::size_t text_bytes) {
  std::mt19937 random(7);
  std::vector<Record> all;
  for (std::uint32_t n = 1; n <= episodes; ++n) {
    for (auto& record : test::some_records(100, n)) {
      if (auto* reply = std::get_if<Reply>(&record)) {
        reply->reply.resize(text_bytes);
        for (auto& byte : reply->reply) byte = static_cast<char>(random());
      }
      all.push_back(std::move(record));
    }
  }
  return all;
}

class FrontSealed : public test::LogFolder {
 protected:
  FrontSealed() : LogFolder(SealKey(std::string(64, 'a'))) {}

  /// Sealed as a.h5. @returns its bytes
  std::string sealed(const std::vector<Record>& records, bool keep_journal = false, SegmentLimits limits = {}) {
    const auto journal = write("a", records, log().key);
    seal_journal(journal, !keep_journal, Seconds(0), limits, log().key);
    return read_file(at("a.h5"));
  }
  void flip(std::string bytes, std::size_t place, const std::string& name = "a.h5") {
    bytes[place] ^= 0x40;
    write_file_atomic(at(name), bytes);
  }
  std::string why_unreadable() const {
    try {
      read_segment(
          at("a.h5"), {}, [](std::uint64_t, Record&&) {}, log().key);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::corrupt);
      return error.what();
    }
    return {};
  }
  static std::size_t front_of(const std::string& bytes) { return bytes.find("\x89HDF"); }
};

TEST_F(FrontSealed, ADamagedFrontIsNotToldAsAnotherRunsAndItsRecordsAreLost) {
  const auto bytes = sealed(incompressible(2, 100));
  for (const std::size_t place : {0U, 17U, 40U, 70U}) {  // magic, size, HMAC, a digest
    flip(bytes, place);
    const auto got = read();
    ASSERT_EQ(got.left_out.size(), 1U);
    EXPECT_TRUE(got.records.empty());
    EXPECT_EQ(got.left_out[0].why, Why::unproven);
    EXPECT_THAT(got.left_out[0].text(), HasSubstr("it says to be of this run: it is damaged"));
    const auto checks = check_log(log());
    ASSERT_EQ(checks.size(), 1U);
    EXPECT_TRUE(checks[0].damaged() && checks[0].is_beyond_saving) << "no verb can save any of it";
    EXPECT_THAT(checks[0].error, HasSubstr("what it alone held is run again"));
    const auto done = salvage(log());
    ASSERT_EQ(done.size(), 1U);
    EXPECT_TRUE(done[0].lost);
    EXPECT_TRUE(check_log(log()).empty());
  }
}

TEST_F(FrontSealed, ADamagedFrontCostsNothingWhileTheJournalIsThere) {
  const auto records = incompressible(2, 100);
  flip(sealed(records, true), 40);
  for (const auto& done : salvage(log())) EXPECT_FALSE(done.lost) << done.what;
  EXPECT_TRUE(test::same_records(read().records, records));
}

TEST_F(FrontSealed, ADamagedFrontOfAPartStopsReadersUntilItIsSetAside) {
  const auto records = incompressible(6, 100);
  sealed(records, false, {.rows = 2});
  ASSERT_TRUE(fs::exists(at("a.part3.h5")));
  flip(read_file(at("a.part2.h5")), 40, "a.part2.h5");
  EXPECT_THROW(read(), Error) << "what later parts follow is not known";
  bool lost = false;
  for (const auto& done : salvage(log())) lost = lost || done.lost;
  EXPECT_TRUE(lost);
  for (const auto& check : check_log(log())) EXPECT_FALSE(check.damaged()) << check.error;
  const auto left = read().records;
  EXPECT_LT(left.size(), records.size());
  EXPECT_FALSE(left.empty());
}

TEST_F(FrontSealed, AnotherRunsFileIsForeignAndCostsNothing) {
  const SealKey theirs(std::string(64, 'b'));
  seal_journal(write("b", incompressible(1, 100), theirs, "another-run"), true, Seconds(0), {}, theirs);
  ASSERT_EQ(read().left_out.size(), 1U);
  EXPECT_EQ(read().left_out[0].why, Why::foreign);
  EXPECT_THAT(check_log(log()).at(0).error, HasSubstr("another program or run wrote it"));
  const auto done = salvage(log());
  ASSERT_EQ(done.size(), 1U);
  EXPECT_FALSE(done[0].lost);
}

TEST_F(FrontSealed, OneFlippedByteOfALargeSegmentCostsItsBlockAndTheTextsOfItsChunk) {
  constexpr std::size_t kText = 64 * 1024;
  const auto records = incompressible(kEpisodes, kText);
  const auto bytes = sealed(records);
  const auto front = front_of(bytes);
  ASSERT_GT(bytes.size(), kEpisodes * kText);
  for (const std::size_t k : {1, 3, 5, 7}) {
    const auto place = front + (bytes.size() - front) * k / 8;
    flip(bytes, place);
    const auto start = front + (place - front) / kSealBlockBytes * kSealBlockBytes;
    EXPECT_THAT(why_unreadable(), HasSubstr(fmt::format("bytes {} to {} are not those that were sealed", start,
                                                        start + kSealBlockBytes - 1)));
    ASSERT_EQ(salvage(log()).size(), 1U);
    const auto got = read().records;
    ASSERT_EQ(got.size(), records.size()) << "no row is lost with a text";
    const auto whole = std::count_if(got.begin(), got.end(), [&](const Record& record) {
      return std::any_of(records.begin(), records.end(), [&](const auto& r) { return test::same(r, record); });
    });
    EXPECT_LT(whole, static_cast<long>(got.size()));
    EXPECT_LE((got.size() - static_cast<std::size_t>(whole)) * kText, 2 * (kTextChunk + 2 * kText));
  }
}

TEST_F(FrontSealed, AShortFileIsSaidToBeShort) {
  const auto bytes = sealed(incompressible(4, 10'000));
  for (const std::size_t size : {bytes.size() - 1, bytes.size() / 2}) {
    write_file_atomic(at("a.h5"), std::string_view(bytes).substr(0, size));
    EXPECT_THAT(why_unreadable(),
                HasSubstr(fmt::format("it ends at byte {} and was sealed with {}", size, bytes.size())));
  }
}

}  // namespace
}  // namespace nkigrid::log
