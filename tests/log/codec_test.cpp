#include "runner/log/codec.hpp"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>

#include "tests/log/records_equal.hpp"

namespace nkigrid::log {
namespace {

TEST(Codec, KeepsEveryFieldOfATurnBitForBit) {
  const auto turn = std::get<Turn>(test::some_records(500)[2]);
  const auto back = std::get<Turn>(*decode(encode(Record(turn))));
  EXPECT_EQ(back.id, turn.id);
  EXPECT_EQ(back.turn, 3u);
  EXPECT_EQ(back.event, TurnEvent::bad_tool_args);
  EXPECT_TRUE(back.nudged);
  EXPECT_EQ(back.flags, turn.flags);
  EXPECT_EQ(back.tool_calls, 2u);
  EXPECT_EQ(back.compile_ok, 1);
  EXPECT_EQ(back.verify_ok, 0);
  EXPECT_EQ(back.stage, Stage::verify);
  EXPECT_EQ(back.code, Code::numeric_mismatch);
  EXPECT_EQ(back.line, 17u);
  EXPECT_EQ(back.compile_s, 0.75);
  EXPECT_EQ(back.max_abs_err, 0.7);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(back.estimate_us), 0xfff8'0000'dead'beefULL);
  EXPECT_EQ(back.kernel, turn.kernel);
  EXPECT_THAT(back.tool_output, testing::HasSubstr(std::string("NUL:\0 half", 10)));
}

TEST(Codec, KeepsEveryFieldOfBeginReplyAndEnd) {
  const auto records = test::some_records(100);
  const auto begin = std::get<Begin>(*decode(encode(records[0])));
  EXPECT_EQ(begin.inherited_turns, 2u);
  EXPECT_EQ(begin.node, "node7");
  EXPECT_EQ(begin.rank, 3u);
  EXPECT_EQ(begin.started, 1'750'000'000.25);
  const auto reply = std::get<Reply>(*decode(encode(records[1])));
  EXPECT_EQ(reply.raw, std::get<Reply>(records[1]).raw);
  EXPECT_EQ(reply.wait_s, 0.25);
  EXPECT_EQ(reply.tokens_cached, 50u);
  EXPECT_EQ(reply.cost_usd, 0.0125);
  const auto end = std::get<End>(*decode(encode(records[3])));
  EXPECT_EQ(end.outcome, Outcome::mismatch);
  EXPECT_EQ(end.ended_by, EndedBy::turns);
  EXPECT_EQ(end.best_strict_passed, 1);
  EXPECT_EQ(end.tokens_in, 5'000'000'000u);
  EXPECT_EQ(end.reason, std::get<End>(records[3]).reason);
  EXPECT_TRUE(std::isnan(end.max_abs_err));
  EXPECT_TRUE(end.synthetic);
}

TEST(Codec, LeavesTextsUnreadWhenAsked) {
  const auto records = test::some_records(100);
  const auto turn = std::get<Turn>(*decode(encode(records[2]), false));
  EXPECT_EQ(turn.kernel, "");
  EXPECT_EQ(turn.flags, "args_peeled extract=last_fence");
  EXPECT_EQ(std::get<Reply>(*decode(encode(records[1]), false)).raw, "");
}

TEST(Codec, CutPayloadsAreRefusedOrWholeFields) {
  for (const auto& record : test::some_records(60)) {
    const auto bytes = encode(record);
    for (std::size_t length = 0; length < bytes.size(); ++length) decode(bytes.substr(0, length));  // sanitizers watch
  }
  EXPECT_FALSE(decode(""));
  EXPECT_FALSE(decode("\x05"));
  EXPECT_FALSE(decode(std::string("\x01\x0e\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 12)));
}

TEST(Codec, SkipsFieldsOfALaterVersionAndRefusesUnknownWords) {
  const auto bytes = encode(test::some_records(10)[0]);
  EXPECT_EQ(encode(std::get<Begin>(*decode(bytes + "\xfe\x03new"))), bytes);
  EXPECT_FALSE(decode(std::string("\x04") + static_cast<char>(13 * 4 + 2) + "\x04what"));
}

}  // namespace
}  // namespace nkigrid::log
