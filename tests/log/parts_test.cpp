// A journal that seals into several segments: what each holds, and that no record is lost or seen twice on the way.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <set>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/check.hpp"
#include "runner/log/folder.hpp"
#include "runner/log/plan_index.hpp"
#include "runner/log/reader.hpp"
#include "runner/log/salvage.hpp"
#include "runner/log/segment.hpp"
#include "runner/log/set_aside.hpp"
#include "runner/log/turn_summaries.hpp"
#include "runner/log/walk.hpp"
#include "tests/log/make_log.hpp"
#include "tests/log/records_equal.hpp"

namespace nkigrid::log {
namespace {
namespace fs = std::filesystem;
using test::some_id;

constexpr SegmentLimits kSmall{.rows = 10};

/// Six lanes that answer late: at any moment some replies are open.
std::vector<Record> interleaved(std::uint32_t turns) {
  std::vector<Record> records;
  for (std::uint32_t lane = 1; lane <= 6; ++lane) records.emplace_back(Begin{.id = some_id(lane), .node = "n"});
  for (std::uint32_t turn = 1; turn <= turns; ++turn) {
    for (std::uint32_t lane = 1; lane <= 6; ++lane) {
      const auto text = std::to_string(lane) + "." + std::to_string(turn);
      records.emplace_back(Reply{.id = some_id(lane),
                                 .turn = turn,
                                 .request = "q" + text,
                                 .reply = "r" + text,
                                 .tokens_in = lane,
                                 .cost_usd = 0.5});
      if (turn > 1)
        records.emplace_back(
            Turn{.id = some_id(lane), .turn = turn - 1, .compile_ok = 0, .code = Code::oob, .kernel = "k" + text});
    }
  }
  for (std::uint32_t lane = 1; lane <= 6; ++lane)
    records.emplace_back(End{.id = some_id(lane),
                             .outcome = Outcome::mismatch,
                             .ended_by = EndedBy::turns,
                             .code = Code::numeric_mismatch,
                             .turns = turns});
  return records;
}

class Parts : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::vector<Record>& records) {
    Journal journal(folder_.path(), name, test::made_header());
    journal.append(records);
    journal.close();
    return journal.path();
  }
  std::vector<Record> read() const {
    std::vector<Record> records;
    LogWalk walk(test::made_log(folder_.path()), refuse_the_unclear);
    for (const auto& stem : stems_of(folder_.path()))
      walk.read(stem, {}, [&](Record&& record) { records.push_back(std::move(record)); });
    return records;
  }
  static bool all_same(const std::vector<Record>& a, const std::vector<Record>& b) {
    return a.size() == b.size() && std::is_permutation(a.begin(), a.end(), b.begin(), test::same);
  }
  fs::path part(std::uint32_t number) const { return part_path(folder_.path(), "a", number); }
  TemporaryDirectory folder_;
};

TEST_F(Parts, TogetherHoldEveryRecordOnceAndTheTurnsWhole) {
  const auto records = interleaved(9);
  seal_journal(write("a", records), true, Seconds(0), kSmall);
  EXPECT_FALSE(fs::exists(folder_.path() / "a.journal"));
  EXPECT_TRUE(fs::exists(part(5)));
  EXPECT_FALSE(fs::exists(part(7)));
  EXPECT_TRUE(all_same(read(), records));
  std::uint64_t last = 0;
  for (std::uint32_t n = 1; fs::exists(part(n)); ++n) {
    const auto header = read_segment_header(part(n));
    EXPECT_EQ(header.seq_first, last + 1) << n;
    last = header.seq_last;
    EXPECT_EQ(header.carried.empty(), !fs::exists(part(n + 1))) << n;
  }
  EXPECT_EQ(last, records.size());
}

TEST_F(Parts, ASealThatDiedAfterAnyPartIsContinuedAndReadersMissNothing) {
  const auto records = interleaved(9);
  for (std::uint32_t kept = 0; kept <= 5; ++kept) {
    const auto journal = write("a", records);
    const auto bytes = read_file(journal);
    seal_journal(journal, true, Seconds(0), kSmall);
    std::ofstream(journal, std::ios::binary) << bytes;  // as if it had died before it removed the journal
    for (std::uint32_t n = kept + 1; fs::exists(part(n)); ++n) fs::remove(part(n));
    EXPECT_TRUE(all_same(read(), records)) << kept;
    seal_journal(journal, true, Seconds(0), kSmall);
    EXPECT_FALSE(fs::exists(journal));
    EXPECT_TRUE(all_same(read(), records)) << kept;
    for (std::uint32_t n = 1; fs::exists(part(n)); ++n) fs::remove(part(n));
  }
}

TEST_F(Parts, AreMadeAnewFromTheFirstThatCannotBeRead) {
  const auto records = interleaved(9);
  const auto journal = write("a", records);
  seal_journal(journal, false, Seconds(0), kSmall);
  const auto first = read_file(part(1));
  std::ofstream(part(2), std::ios::binary) << "no segment any more";
  ASSERT_EQ(salvage(test::made_log(folder_.path())).size(), 1u);
  EXPECT_FALSE(fs::exists(part(2)));
  seal_journal(journal, true, Seconds(0), kSmall);
  EXPECT_EQ(read_file(part(1)), first) << "it was whole, and stays";
  EXPECT_TRUE(all_same(read(), records));
  EXPECT_TRUE(fs::exists(folder_.path() / "damaged/a.part2.h5"));
  for (const auto& check : check_log(test::made_log(folder_.path()))) EXPECT_FALSE(check.damaged()) << check.file;
}

TEST_F(Parts, OneThatIsGoneIsNamedAndCostsWhatItAloneHeld) {
  const auto records = interleaved(9);
  for (const std::uint32_t gone : {1U, 2U, 4U}) {
    for (std::uint32_t n = 1; fs::exists(part(n)); ++n) fs::remove(part(n));
    seal_journal(write("a", records), true, Seconds(0), kSmall);
    const auto header = read_segment_header(part(gone));
    const auto carried_to_it = gone > 1 ? read_segment_header(part(gone - 1)).carried.size() : 0;
    const auto held = header.seq_last - header.seq_first + 1;
    fs::remove(part(gone));
    const auto checks = check_log(test::made_log(folder_.path()));
    ASSERT_GE(checks.size(), 5U);
    EXPECT_THAT(checks[gone - 1].error,
                testing::AllOf(testing::HasSubstr(part(gone).filename().native()), testing::HasSubstr("is missing")));
    EXPECT_THROW(read(), Error);
    const auto salvaged = salvage(test::made_log(folder_.path()));
    ASSERT_EQ(salvaged.size(), 1U);
    EXPECT_TRUE(salvaged[0].lost);
    // What was open when it was sealed is held by the part after it.
    EXPECT_EQ(read().size(), records.size() - held + header.carried.size() - carried_to_it) << gone;
    EXPECT_EQ(read_segment_header(part(gone)).missing_records, held);
    for (const auto& check : check_log(test::made_log(folder_.path()))) EXPECT_FALSE(check.damaged()) << check.error;
  }
}

TEST_F(Parts, OneThatIsGoneIsMadeAnewFromItsJournal) {
  const auto records = interleaved(9);
  const auto journal = write("a", records);
  seal_journal(journal, false, Seconds(0), kSmall);
  fs::remove(part(2));
  seal_journal(journal, true, Seconds(0), kSmall);
  EXPECT_TRUE(all_same(read(), records));
}

TEST_F(Parts, NamesThatAreNoFilesAreNotOurs) {
  const auto records = interleaved(2);
  write("a", records);
  fs::create_directory(folder_.path() / "b.h5");
  fs::create_directory(folder_.path() / "c.journal");
  ASSERT_EQ(::mkfifo((folder_.path() / "d.h5").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((folder_.path() / "e.journal").c_str(), 0600), 0);
  EXPECT_TRUE(all_same(read(), records));
  EXPECT_TRUE(salvage(test::made_log(folder_.path())).empty());
  EXPECT_EQ(seal_all(test::made_log(folder_.path())).size(), 1U);
}

TEST_F(Parts, ASealedJournalsDamageIsCountedOnceOverAllParts) {
  const auto journal = write("a", interleaved(9));
  auto bytes = read_file(journal);
  bytes[2000] = static_cast<char>(bytes[2000] ^ 1);
  std::ofstream(journal, std::ios::binary) << bytes;
  seal_journal(journal, false, Seconds(0), kSmall);
  seal_journal(journal, true, Seconds(0), kSmall);
  std::uint64_t damaged = 0, missing = 0;
  for (std::uint32_t n = 1; fs::exists(part(n)); ++n) {
    const auto header = read_segment_header(part(n));
    damaged += header.damaged_bytes, missing += header.missing_records;
  }
  const auto notes = read_notes(folder_.path());
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_GT(damaged, 0u);
  EXPECT_EQ(damaged, notes[0].damaged_bytes);
  EXPECT_EQ(missing, notes[0].missing_records);
}

TEST_F(Parts, TextBytesFillASegmentToo) {
  std::vector<Record> records;
  for (std::uint32_t n = 1; n <= 8; ++n)
    records.emplace_back(Turn{.id = some_id(1), .turn = n, .kernel = std::string(60'000, static_cast<char>('a' + n))});
  records.emplace_back(End{.id = some_id(1)});
  seal_journal(write("a", records), true, Seconds(0), {.text_bytes = 100'000});
  EXPECT_TRUE(fs::exists(part(4)));
  EXPECT_FALSE(fs::exists(part(6)));
  EXPECT_TRUE(all_same(read(), records));
}

TEST_F(Parts, RequestsShareTheirTextWithTheAnswerBefore) {
  std::vector<Record> records;
  std::string answer = "the prompt";
  for (std::uint32_t n = 1; n <= 20; ++n) {
    records.emplace_back(Reply{.id = some_id(1), .turn = n, .request = answer, .reply = "reply " + std::to_string(n)});
    answer = std::string(1000, static_cast<char>('a' + n)) + std::to_string(n);
    records.emplace_back(Turn{.id = some_id(1), .turn = n, .tool_output = answer});
  }
  seal_journal(write("a", records), false);
  const auto file = h5::open_file(part(1));
  EXPECT_LT(h5::rows_of(h5::open_group(file, "/"), "text"), 20u * 1002 + 20 * 8 + 10 + 1)
      << "each answer once, though the next request repeats it";
}

TEST(TurnSummaries, TellOfEveryPlannedTurnOnceSealedOrNot) {
  const auto plan = test::hand_plan({"novice.ss.naive"}, {{"L1/012_gelu", "L1", "unary"}}, 6);
  TemporaryDirectory folder;
  const auto& key = plan.key(0, 0);
  auto records = interleaved(5);
  for (auto& record : records) std::visit([&](auto& r) { r.id.key = key; }, record);
  auto stranger = Reply{.id = some_id(1), .turn = 1};
  stranger.id.key = "ffffffffffffffff";
  records.emplace_back(stranger);
  Journal journal(folder.path(), "a", test::made_header());
  journal.append(records);
  journal.close();
  const auto summed = [&] {
    std::set<std::tuple<std::uint32_t, std::uint32_t, bool>> seen;
    double usd = 0;
    int rows = 0;
    read_turn_summaries(plan, test::made_log(folder.path()), [&](const TurnSummary& turn) {
      ++rows;
      usd += turn.cost_usd;
      EXPECT_EQ(turn.tokens_in, turn.episode + 1);
      EXPECT_EQ(turn.code, turn.answered ? Code::oob : Code::none);
      seen.insert({turn.episode, turn.turn, turn.answered});
    });
    EXPECT_EQ(rows, 30);
    EXPECT_DOUBLE_EQ(usd, 15);
    return seen;
  };
  const auto unsealed = summed();
  EXPECT_EQ(unsealed.size(), 30u);
  seal_journal(journal.path(), false, Seconds(0), kSmall);
  EXPECT_EQ(summed(), unsealed);
  fs::remove(journal.path());
  EXPECT_EQ(summed(), unsealed);
}

TEST(PlanIndex, FindsEpisodesWhoseReplicatesHaveGaps) {
  auto plan = test::hand_plan({"novice.ss.naive", "novice.mt.naive"}, {{"L1/1", "L1", "u"}, {"L1/2", "L1", "u"}}, 9);
  std::erase_if(plan.episodes, [](const auto& episode) { return episode.replicate % 3 == 2 && episode.task == 1; });
  const PlanIndex index(plan);
  for (std::uint32_t i = 0; i < plan.episodes.size(); ++i) {
    const auto& planned = plan.episodes[i];
    EXPECT_EQ(index.find({plan.id_of(planned), plan.key(planned.cell, planned.task), 1}), i);
    EXPECT_EQ(index.find({plan.id_of(planned), "another key", 1}), PlanIndex::kUnplanned);
  }
  EXPECT_EQ(index.find({{"novice.ss.naive", "L1/2", 2}, plan.key(0, 1), 1}), PlanIndex::kUnplanned);
  EXPECT_EQ(index.find({{"novice.ss.naive", "L1/9", 1}, plan.key(0, 1), 1}), PlanIndex::kUnplanned);
}

}  // namespace
}  // namespace nkigrid::log
