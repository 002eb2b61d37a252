// Files of a log damaged at random: bits, bytes, zeroed and repeated blocks, cuts, junk. Nothing crashes, nothing is
// altered, what is lost is told. NKIGRID_DAMAGE_CASES=N makes N cases of each test instead of a few.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include <fmt/core.h>

#include "jobs/base/draws.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/check.hpp"
#include "runner/log/journal_reader.hpp"
#include "runner/log/salvage.hpp"
#include "runner/log/segment.hpp"
#include "runner/log/segment_reader.hpp"
#include "runner/log/set_aside.hpp"
#include "tests/log/make_log.hpp"
#include "tests/log/records_equal.hpp"

namespace nkigrid::log {
namespace {
namespace fs = std::filesystem;

int cases(int few) {
  const char* wish = std::getenv("NKIGRID_DAMAGE_CASES");
  return wish == nullptr ? few : std::atoi(wish);
}

/// Damages `bytes` in one of the ways of disks, memories and copies. @returns what was done
std::string damage(std::string& bytes, Draws& draws) {
  const auto at = draws.below(bytes.size());
  const auto many =
      std::min<std::uint64_t>(std::array<std::uint64_t, 4>{4, 64, 512, 4096}[draws.below(4)], bytes.size() - at);
  const auto where = fmt::format("{} bytes at {}", many, at);
  switch (draws.below(8)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << draws.below(8)));
      return fmt::format("a bit at {}", at);
    case 1:
      for (auto n = 2 + draws.below(30); n > 0; --n)
        bytes[draws.below(bytes.size())] ^= static_cast<char>(1 << draws.below(8));
      return "many bits";
    case 2:
      bytes.replace(at, many, many, '\0');
      return "zeroed " + where;
    case 3:
      bytes.replace(at, many, many, '\xff');
      return "all ones in " + where;
    case 4:
      for (std::size_t i = 0; i < many; ++i) bytes[at + i] = static_cast<char>(draws.below(256));
      return "junk in " + where;
    case 5: {
      const auto from = draws.below(bytes.size() - many + 1);
      bytes.replace(at, many, bytes.substr(from, many));
      return fmt::format("{} come from {}", where, from);
    }
    case 6:
      bytes.resize(at);
      return fmt::format("cut at {}", at);
    default:
      bytes.append(many, draws.below(2) == 0 ? '\0' : '\x5a');
      return fmt::format("{} bytes more", many);
  }
}

using Records = std::map<std::uint64_t, Record>;

/// Episodes with texts of many sizes, some that nothing compresses; the last has no end.
std::vector<Record> a_few_episodes(std::uint32_t count) {
  Draws draws(5);
  std::vector<Record> all;
  for (std::uint32_t n = 1; n <= count; ++n) {
    auto records = test::some_records(n * n * 37, n);
    auto& turn = std::get<Turn>(records[2]);
    for (std::uint32_t i = 0; i < 40 * n; ++i) turn.kernel += static_cast<char>(draws.below(256));
    if (n == count) records.pop_back();
    for (auto& record : records) all.push_back(std::move(record));
  }
  return all;
}

class Damage : public testing::Test {
 protected:
  fs::path write(const fs::path& folder, const std::vector<Record>& records) {
    fs::create_directories(folder);
    Journal journal(folder, "a", test::made_header());
    journal.append(records);
    journal.close();
    return journal.path();
  }
  /// A folder that holds one file with these bytes.
  fs::path folder_with(const char* name, std::string_view bytes) {
    const auto folder = folder_.path() / "log";
    fs::remove_all(folder);
    fs::create_directories(folder);
    write_file_atomic(folder / name, bytes);
    return folder;
  }
  static Records in_segment(const fs::path& file) {
    Records found;
    read_segment(file, {}, [&](std::uint64_t sequence, Record&& record) {
      EXPECT_TRUE(found.emplace(sequence, std::move(record)).second) << sequence;
    });
    return found;
  }
  static Records in_journal(const fs::path& file) {
    Records found;
    read_journal(file, [&](std::uint64_t sequence, Record&& record) {
      EXPECT_TRUE(found.emplace(sequence, std::move(record)).second) << sequence;
    });
    return found;
  }
  static bool same_as(const Records& got, const Records& all) {
    return std::all_of(got.begin(), got.end(), [&](const auto& item) {
      return all.count(item.first) != 0 && test::same(item.second, all.at(item.first));
    });
  }
  static Record without_texts(Record record) {
    if (auto* reply = std::get_if<Reply>(&record)) reply->request = reply->reply = reply->raw = {};
    if (auto* turn = std::get_if<Turn>(&record)) turn->kernel = turn->tool_output = {};
    if (auto* end = std::get_if<End>(&record)) end->reason = end->findings = {};
    return record;
  }
  /// Texts may be lost; every other value of a record that is given back is the one that was logged.
  static bool tells_no_lie(const Records& got, const Records& all) {
    return std::all_of(got.begin(), got.end(), [&](const auto& item) {
      const auto found = all.find(item.first);
      return found != all.end() && test::same(without_texts(item.second), without_texts(found->second));
    });
  }
  TemporaryDirectory folder_;
};

TEST_F(Damage, OfASegmentIsSeenAndWhatIsSavedOfItIsTrue) {
  for (const std::uint32_t episodes : {1U, 12U}) {
    const auto file = seal_journal(write(folder_.path() / std::to_string(episodes), a_few_episodes(episodes)), false);
    const auto bytes = read_file(file);
    const auto all = in_segment(file);
    ASSERT_EQ(all.size(), 4 * episodes - 1);
    Draws draws(episodes);
    int seen = 0, saved = 0;
    for (int i = 0; i < cases(20); ++i) {
      auto changed = bytes;
      SCOPED_TRACE(damage(changed, draws));
      const auto folder = folder_with("a.h5", changed);
      const auto before = check_log(test::made_log(folder));
      ASSERT_EQ(before.size(), 1U);
      if (!before[0].damaged()) {
        const auto got = in_segment(folder / "a.h5");
        ASSERT_TRUE(got.size() == all.size() && same_as(got, all)) << "damage that nobody sees";
        continue;
      }
      ++seen;
      const auto salvaged = salvage(test::made_log(folder));
      ASSERT_EQ(salvaged.size(), 1U);
      ASSERT_TRUE(seal_all(test::made_log(folder)).empty());
      const auto after = check_log(test::made_log(folder));
      ASSERT_TRUE(after.size() == 1 && !after[0].damaged());
      const auto got = in_segment(folder / "a.h5");
      ASSERT_TRUE(tells_no_lie(got, all));
      ASSERT_TRUE(salvaged[0].lost || (got.size() == all.size() && same_as(got, all))) << salvaged[0].what;
      const auto notes = read_notes(folder);
      ASSERT_EQ(notes.size(), 1U);
      ASSERT_EQ(notes[0].records, got.size());
      const bool counted = notes[0].reason.find("attributes lost") == std::string::npos &&
                           notes[0].reason.find("everything") == std::string::npos;
      ASSERT_TRUE(!counted || notes[0].records + notes[0].missing_records == all.size()) << notes[0].reason;
      saved += got.empty() ? 0 : 1;
    }
    EXPECT_GT(seen, cases(20) / 4);
    EXPECT_GT(saved, 0);
  }
}

TEST_F(Damage, OfAJournalCostsWhatItTouchedAndIsCounted) {
  const auto file = write(folder_.path() / "whole", a_few_episodes(14));
  const auto bytes = read_file(file);
  const auto all = in_journal(file);
  ASSERT_EQ(all.size(), 4 * 14 - 1U);
  Draws draws(3);
  int seen = 0;
  for (int i = 0; i < cases(40); ++i) {
    auto changed = bytes;
    SCOPED_TRACE(damage(changed, draws));
    const auto folder = folder_with("a.journal", changed);
    const auto before = check_log(test::made_log(folder));
    ASSERT_EQ(before.size(), 1U);
    const auto& found = before[0];
    seen += found.damaged() ? 1 : 0;
    Records got;
    if (found.error.empty()) {
      got = in_journal(folder / "a.journal");
      ASSERT_TRUE(same_as(got, all));
      ASSERT_TRUE(found.damaged() || found.torn_tail_bytes > 0 || got.size() == all.size())
          << "a loss that nobody tells";
      // Each gap is counted; what was lost behind the last whole record left no trace but its bytes.
      const auto last = got.empty() ? 0 : got.rbegin()->first;
      ASSERT_EQ(got.size() + found.missing_records, last) << found.damaged_bytes;
    }
    salvage(test::made_log(folder));
    seal_all(test::made_log(folder));
    for (const auto& check : check_log(test::made_log(folder)))
      ASSERT_FALSE(check.damaged()) << check.file << check.error;
    if (fs::exists(folder / "a.h5")) {
      const auto sealed = in_segment(folder / "a.h5");
      ASSERT_TRUE(sealed.size() == got.size() && same_as(sealed, all));
    }
    ASSERT_EQ(read_notes(folder).size(), found.damaged() ? 1U : 0U);
  }
  EXPECT_GT(seen, cases(40) / 2);
}

TEST_F(Damage, OfASegmentThatHasItsJournalLosesNothing) {
  const auto journal = write(folder_.path() / "whole", a_few_episodes(6));
  const auto file = seal_journal(journal, false);
  const auto bytes = read_file(file), journal_bytes = read_file(journal);
  const auto all = in_segment(file);
  Draws draws(4);
  for (int i = 0; i < cases(10); ++i) {
    auto changed = bytes;
    SCOPED_TRACE(damage(changed, draws));
    const auto folder = folder_with("a.h5", changed);
    write_file_atomic(folder / "a.journal", journal_bytes);
    salvage(test::made_log(folder));
    seal_all(test::made_log(folder));
    const auto got = in_segment(folder / "a.h5");
    ASSERT_TRUE(got.size() == all.size() && same_as(got, all));
  }
}

TEST_F(Damage, OfEveryByteOfATinySegmentIsSeen) {
  auto records = test::some_records(0);
  records.erase(records.begin(), records.begin() + 3);  // one row of one group: columns of a byte
  const auto file = seal_journal(write(folder_.path() / "whole", records), false);
  const auto bytes = read_file(file);
  const auto all = in_segment(file);
  const auto step = std::max<std::size_t>(1, bytes.size() / static_cast<std::size_t>(cases(250)));
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    auto changed = bytes;
    changed[at] ^= 1;
    const auto folder = folder_with("a.h5", changed);
    if (check_log(test::made_log(folder)).at(0).damaged()) continue;
    const auto got = in_segment(folder / "a.h5");
    ASSERT_TRUE(got.size() == all.size() && same_as(got, all)) << at;
  }
}

}  // namespace
}  // namespace nkigrid::log
