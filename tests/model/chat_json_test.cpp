#include <gtest/gtest.h>

#include "runner/model/chat.hpp"
#include "runner/model/chat_json.hpp"
#include "runner/model/json_text.hpp"

namespace nkigrid::model {
namespace {

using namespace std::string_literals;

Message sample() { return {Role::assistant, "text", {{"c1", "verify_kernel", "{\"trials\":3}"}}, "", false}; }

TEST(ChatJson, MessageComesBackEqual) {
  const Message back = parse_message(to_json(sample()));
  EXPECT_EQ(back.role, Role::assistant);
  EXPECT_EQ(back.content, "text");
  ASSERT_EQ(back.tool_calls.size(), 1u);
  EXPECT_EQ(back.tool_calls[0].id, "c1");
  EXPECT_EQ(back.tool_calls[0].arguments, "{\"trials\":3}");
}

TEST(ChatJson, ToolMessageKeepsItsCallAndItsError) {
  const Message back = parse_message(to_json(Message{Role::tool, "no", {}, "c7", true}));
  EXPECT_EQ(back.tool_call_id, "c7");
  EXPECT_TRUE(back.is_error);
}

TEST(ChatJson, WhatItsApiWantsBackComesBackAsItCame) {
  Message message = sample();
  message.opaque = R"([{"type":"thinking","signature":"EqQB+/=="}])";
  EXPECT_EQ(parse_message(to_json(message)).opaque, message.opaque);
  EXPECT_EQ(to_json(sample()).find("opaque"), std::string::npos);
}

TEST(ChatJson, NulAndControlBytesSurvive) {
  const Message message{Role::user, "a\0b\x07"s, {}, "", false};
  EXPECT_EQ(parse_message(to_json(message)).content, "a\0b\x07"s);
}

TEST(ChatJson, IllFormedBytesBecomeTheReplacementCharacter) {
  const Message message{Role::user, "x\xff\xed\xa0\xb5y", {}, "", false};
  EXPECT_EQ(parse_message(to_json(message)).content, "x\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdy");
}

TEST(ChatJson, ReplyComesBackWithUsageAndFingerprint) {
  ChatReply reply;
  reply.message = sample();
  reply.finish = Finish::length;
  reply.usage = {10, 20, 3};
  reply.reasoning = "because";
  reply.system_fingerprint = kSyntheticFingerprint;
  reply.mended = 2;
  reply.request_id = "req_7";
  const ChatReply back = parse_reply(to_json(reply));
  EXPECT_EQ(back.finish, Finish::length);
  EXPECT_EQ(back.usage.input, 10u);
  EXPECT_EQ(back.usage.output, 20u);
  EXPECT_EQ(back.usage.cached, 3u);
  EXPECT_EQ(back.reasoning, "because");
  EXPECT_EQ(back.system_fingerprint, "nkigrid-synthetic");
  EXPECT_EQ(back.mended, 2u);
  EXPECT_EQ(back.request_id, "req_7");
}

TEST(ChatJson, EveryCutOfAReplyIsCorrupt) {
  ChatReply reply;
  reply.message = sample();
  const std::string whole = to_json(reply);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    try {
      parse_reply(whole.substr(0, length));
      FAIL() << "accepted " << length << " bytes";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::corrupt);
    }
  }
}

TEST(MendJson, LoneHalvesAreReplacedAndPairsKept) {
  const MendedJson mended = mend_json(R"("\ud835 \ud835\udc31 \udc31 \\ud835")");
  EXPECT_EQ(mended.text, R"("\ufffd \ud835\udc31 \ufffd \\ud835")");
  EXPECT_EQ(mended.mended, 2u);
}

TEST(MendJson, WellFormedTextIsUntouched) {
  const std::string text = "{\"a\":\"\\u0000 \\\" \xf0\x9d\x90\xb1\"}";
  EXPECT_EQ(mend_json(text).text, text);
  EXPECT_EQ(mend_json(text).mended, 0u);
}

}  // namespace
}  // namespace nkigrid::model
