// Records that say two things at once: which they are, that no writer writes them and no reader counts them.
#include "runner/log/contradiction.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/codec.hpp"
#include "runner/log/journal.hpp"
#include "runner/log/segment_builder.hpp"
#include "tests/log/make_log.hpp"
#include "tests/log/records_equal.hpp"

namespace nkigrid::log {
namespace {

End good_end(Outcome outcome) {
  return std::get<End>(test::attempt_records(test::some_id(1), "L1", "unary", {.outcome = outcome}).back());
}
Turn good_turn() { return std::get<Turn>(test::attempt_records(test::some_id(1), "L1", "unary", {}).at(2)); }

/// A sound record with one value changed.
template <class R, class Value>
R with(R record, Value R::*field, std::type_identity_t<Value> value) {
  record.*field = value;
  return record;
}

TEST(Contradiction, NoOutcomeThatAnEpisodeCanHaveIsOne) {
  for (int i = 0; i < kOutcomes; ++i) {
    auto end = good_end(static_cast<Outcome>(i));
    if (end.outcome == Outcome::context_full) end.ended_by = EndedBy::context_full;
    EXPECT_EQ(contradiction(end), "") << to_string(end.outcome);
  }
  EXPECT_EQ(contradiction(good_turn()), "");
  for (const auto& record : test::some_records(10)) EXPECT_EQ(contradiction(record), "");
}

TEST(Contradiction, AFinalKernelThatPassesWhereTheBestOneFailsIsNone) {
  EXPECT_EQ(contradiction(with(with(good_end(Outcome::pass), &End::best_strict_passed, 0), &End::best_passed, 0)), "");
}

TEST(Contradiction, AmountsAreFiniteAndNotBelowNothing) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity(), kNan = kNotMeasured;
  const auto pass = good_end(Outcome::pass);
  for (const double absurd : {-1.0, kInfinite, -kInfinite, kNan}) {
    EXPECT_EQ(contradiction(with(pass, &End::seconds, absurd)), "seconds (0 or more are wanted)") << absurd;
    EXPECT_EQ(contradiction(with(pass, &End::cost_usd, absurd)), "cost_usd (0 or more is wanted)") << absurd;
    EXPECT_EQ(contradiction(with(pass, &End::started, absurd)), "started (a time is wanted)") << absurd;
    EXPECT_EQ(contradiction(with(Reply{}, &Reply::llm_s, absurd)), "seconds (0 or more are wanted)") << absurd;
    EXPECT_EQ(contradiction(with(Reply{}, &Reply::cost_usd, absurd)), "cost_usd (0 or more is wanted)") << absurd;
    EXPECT_EQ(contradiction(with(good_turn(), &Turn::compile_s, absurd)), "seconds (0 or more are wanted)") << absurd;
  }
  EXPECT_EQ(contradiction(with(pass, &End::tokens_in, static_cast<std::uint64_t>(-5))),
            "tokens (no attempt has so many)");
  EXPECT_EQ(contradiction(with(pass, &End::max_abs_err, -0.5)), "an error below 0");
  EXPECT_EQ(contradiction(with(pass, &End::estimate_us, -2.0)), "an estimate below 0");
  EXPECT_EQ(contradiction(with(pass, &End::max_abs_err, kInfinite)), "");  // an overflow is one
}

TEST(Contradiction, OfAnEndIsNamedByItsColumns) {
  const auto pass = good_end(Outcome::pass), failed = good_end(Outcome::mismatch), silent = good_end(Outcome::no_code),
             killed = good_end(Outcome::killed);
  const std::vector<std::pair<Record, std::string>> rules = {
      {with(pass, &End::passed, 0), "passed and outcome"},
      {with(failed, &End::passed, 1), "passed and outcome"},
      {with(failed, &End::strict_passed, 1), "strict_passed and passed"},
      {with(failed, &End::best_strict_passed, 1), "best_strict_passed and best_passed"},
      {with(silent, &End::best_passed, 1), "best_passed and outcome"},
      {with(killed, &End::best_passed, 1), "best_passed and outcome"},
      {with(failed, &End::best_strict_passed, -1), "a verdict that is neither 0 nor 1"},
      {with(pass, &End::passed, 2), "a verdict that is neither 0 nor 1"},
      {with(pass, &End::code, Code::oob), "outcome and code"},
      {with(failed, &End::code, Code::none), "outcome and code"},
      {with(failed, &End::code, Code::oob), "outcome and code"},
      {with(silent, &End::code, Code::oob), "outcome and code"},
      {with(pass, &End::stage, Stage::run), "stage and code"},
      {with(pass, &End::line, 3), "line and code"},
      {with(pass, &End::ended_by, EndedBy::none), "ended_by and outcome"},
      {with(silent, &End::outcome, Outcome::context_full), "ended_by and outcome"},
      {with(pass, &End::inherited_turns, 9), "inherited_turns and turns"},
      {with(pass, &End::turns, 0), "turns and outcome"},
      {with(silent, &End::max_abs_err, 0.5), "max_abs_err and outcome"},
      {with(silent, &End::estimate_us, 0.5), "estimate_us and outcome"}};
  for (const auto& [record, found] : rules) EXPECT_EQ(contradiction(record), found);
}

TEST(Contradiction, OfATurnIsNamedByItsColumns) {
  const auto turn = good_turn();
  auto silent = turn;
  silent.event = TurnEvent::no_code, silent.tool_calls = 0, silent.compile_ok = kNotDone;
  ASSERT_EQ(contradiction(silent), "");
  const std::vector<std::pair<Record, std::string>> rules = {
      {with(turn, &Turn::compile_ok, 2), "a check that is none of -1, 0 and 1"},
      {with(turn, &Turn::compile_ok, 0), "code and a check that failed"},
      {with(turn, &Turn::verify_ok, 0), "code and a check that failed"},
      {with(silent, &Turn::code, Code::oob), "code and no check"},
      {with(turn, &Turn::stage, Stage::run), "stage and code"},
      {with(turn, &Turn::line, 3), "line and code"},
      {with(silent, &Turn::tool_calls, 1), "event and what was done"},
      {with(silent, &Turn::compile_ok, 1), "event and what was done"},
      {with(with(turn, &Turn::event, TurnEvent::bad_tool_args), &Turn::tool_calls, 0), "event and tool_calls"},
      {with(turn, &Turn::max_abs_err, 0.5), "max_abs_err and verify_ok"},
      {with(silent, &Turn::estimate_us, 0.5), "estimate_us and compile_ok"}};
  for (const auto& [record, found] : rules) EXPECT_EQ(contradiction(record), found);
}

TEST(Contradiction, IsNeitherWrittenNorReadFromAJournal) {
  TemporaryDirectory folder;
  Journal journal(folder.path(), "a", test::made_header());
  const auto lie = with(good_end(Outcome::pass), &End::passed, 0);
  try {
    journal.append(lie);
    FAIL() << "written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::internal);
    EXPECT_THAT(error.what(), testing::HasSubstr("passed and outcome"));
  }
  journal.append(good_end(Outcome::pass));  // poisons nothing
  EXPECT_FALSE(decode(encode(lie)));
}

TEST(Contradiction, InARowOfASegmentIsCorruptAndCostsThatRowAlone) {
  TemporaryDirectory folder;
  SegmentBuilder builder;
  builder.add(1, good_end(Outcome::mismatch));
  builder.add(2, with(good_end(Outcome::pass), &End::passed, 0));
  SegmentReport about{.header = test::made_header(), .journal = "a", .seq_first = 1, .seq_last = 2};
  const auto file = folder.path() / "a.h5";
  write_file_atomic(file, builder.finish(about));
  try {
    read_segment(file, {}, [](std::uint64_t, Record&&) {});
    FAIL() << "read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("a.h5"), testing::HasSubstr("row 1"),
                                             testing::HasSubstr("passed and outcome")));
  }
  std::vector<Record> saved;
  const auto salvaged = salvage_segment(file, [&](std::uint64_t, Record&& record) { saved.push_back(record); });
  EXPECT_EQ(salvaged.lost_rows, 1U);
  ASSERT_EQ(saved.size(), 1U);
  EXPECT_EQ(std::get<End>(saved[0]).outcome, Outcome::mismatch);
}

}  // namespace
}  // namespace nkigrid::log
