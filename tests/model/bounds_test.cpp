// What a server sizes is read once: megabytes of the worst that one can send take moments.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "runner/model/json_text.hpp"
#include "runner/model/recovery/call_recovery.hpp"
#include "runner/model/wire/faults.hpp"
#include "runner/model/wire/openai_reply.hpp"
#include "tests/cpu_time.hpp"

namespace nkigrid::model {
namespace {

using test::cpu_seconds_of;

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t n = 0; n < times; ++n) all += text;
  return all;
}

TEST(Bounds, JsonIsNotReadDeeperThanAnyReplyNests) {
  EXPECT_TRUE(parse_json(repeated("[", 200) + repeated("]", 200)).is_array());
  EXPECT_TRUE(parse_json(repeated("[", 300) + repeated("]", 300)).is_discarded());
  EXPECT_TRUE(parse_json('"' + repeated("[{", 300) + '"').is_string()) << "what stands in a string does not nest";
  EXPECT_TRUE(parse_json(R"(["\\", "\"[[", {"a": 1}])").is_array());
}

TEST(Bounds, MegabytesOfNestedJsonAreRefusedAtOnce) {
  for (const char* open : {"[", R"({"a":)"}) {
    const auto body = repeated(open, (std::size_t{2} << 20) / std::string(open).size());
    for (const auto& sent : {body, R"({"choices":[{"message":{"content":"x","tool_calls":)" + body}) {
      EXPECT_LT(cpu_seconds_of([&] {
                  EXPECT_FALSE(read_failure(sent).present);
                  EXPECT_THROW(parse_chat_response(sent), Error);
                }),
                10);
    }
  }
}

TEST(Bounds, AStreamOfSingleBytesIsJoinedInOneGo) {
  const auto body = repeated(R"(data: {"choices":[{"index":0,"delta":{"content":"x"}}]})"
                             "\n\n",
                             50'000) +
                    "data: [DONE]\n\n";
  EXPECT_LT(cpu_seconds_of([&] { EXPECT_EQ(parse_chat_response(body).value().message.content.size(), 50'000U); }), 20);
}

TEST(Bounds, AStreamOfManyCallsIsJoinedInOneGo) {
  std::string body;
  for (int i = 0; i < 50'000; ++i) {
    body += R"(data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":)" + std::to_string(i) + R"(,"id":"c)" +
            std::to_string(i) + R"(","function":{"name":"f","arguments":"{}"}}]}}]})" + "\n\n";
  }
  body += "data: [DONE]\n\n";
  EXPECT_LT(cpu_seconds_of([&] { EXPECT_EQ(parse_chat_response(body).value().message.tool_calls.size(), 50'000U); }),
            20);
}

TEST(Bounds, AnEventOfMegabytesThatNeverEndsIsGivenUp) {
  const auto body = "data: {\"choices\":[" + repeated("1,", std::size_t{8} << 20) + "\n" + repeated("data: 1,\n", 1000);
  EXPECT_LT(cpu_seconds_of([&] { EXPECT_THROW(parse_chat_response(body), Error); }), 20);
}

TEST(Bounds, EventsOfManyLinesAreNotReadAnewAtEach) {
  // Of 16 MiB: 64 times as much before, read at each of 60 lines.
  const auto piece = repeated("a", 1000);
  const auto group = "data: {\"a\": \"" + piece + "\n" + repeated("data: " + piece + "}\n", 60) + "data: {}\n";
  const auto body = repeated(group, 270);
  EXPECT_LT(cpu_seconds_of([&] { EXPECT_THROW(parse_chat_response(body), Error); }), 10);
  // What is written over several lines is read as ever.
  EXPECT_EQ(parse_chat_response("data: {\"choices\":\ndata: [{\"index\":0,\"delta\":{\"content\":\"x\"}\ndata: }]}\n\n"
                                "data: [DONE]\n\n")
                .value()
                .message.content,
            "x");
}

TEST(Bounds, OfMoreValuesThanAnyReplyHoldsNoneIsMade) {
  EXPECT_TRUE(parse_json("[" + repeated("0,", 1'000'000) + "0]").is_array());
  EXPECT_TRUE(parse_json("[" + repeated("0,", 2'000'000) + "0]").is_discarded());
}

TEST(Bounds, TwentyThousandCallsHaveAnIdEach) {
  const auto calls = repeated(R"({"id":"a","function":{"name":"f","arguments":"{}"}},)", 20'000);
  const auto body = R"({"choices":[{"message":{"tool_calls":[)" + calls.substr(0, calls.size() - 1) +
                    R"(]},"finish_reason":"stop"}]})";
  EXPECT_LT(cpu_seconds_of([&] { EXPECT_EQ(parse_chat_response(body).value().message.tool_calls.size(), 20'000U); }),
            20);
}

TEST(Bounds, MarksOfCallsThatNeverEndAreGivenUp) {
  const std::vector<ToolSpec> tools = {{"f", "", R"({"type":"object","properties":{}})"}};
  for (const char* mark :
       {"<tool_call>{", "<|python_tag|>{\"", "\n<function=f>\n<parameter=a>", "\n<tool_call>f\n<arg_key>"}) {
    Message message;
    message.content = repeated(mark, 50'000);
    EXPECT_LT(cpu_seconds_of([&] { recover_text_calls(message, tools); }), 20) << mark;
  }
}

TEST(Bounds, CallsOfManyPartsAreReadInOneGo) {
  const std::vector<ToolSpec> tools = {{"f", "", R"({"type":"object","properties":{}})"}};
  const std::vector<std::array<std::string, 3>> forms = {
      {"<function=f>", "\n<parameter=a>", "\n</function>"},
      {"<function=f>", "\n<parameter=a>x</parameter>", "\n</function>"},
      {"", "\n<function=f>", "\n</function>"},
      {"", "<tool_call>{", "</tool_call>"},
      {"", "<tool_call>{\"name\":\"f\",", "</tool_call>"},
      {"", "<tool_call>{\"name\":\"f\"</tool_call>", ""},
      {"<tool_call>f\n", "<arg_key>a</arg_key>", "</tool_call>"},
      {"<tool_call>f\n", "<arg_key>a</arg_key><arg_value>", "</tool_call>"},
      {"<|python_tag|>[", "f(a=1),", ""},
      {"<|python_tag|>f(", "a=\"", ""},
      {"<|python_tag|>f(", "a='x', ", ""}};
  for (const auto& [first, part, last] : forms) {
    Message message;
    message.content = first + repeated(part, 50'000) + last;
    EXPECT_LT(cpu_seconds_of([&] { recover_text_calls(message, tools); }), 10) << first << part;
  }
}

TEST(Bounds, WhatOnlyBeginsLikeACallIsLookedAtOnce) {
  const std::vector<ToolSpec> tools = {{"compile_kernel", "", R"({"properties":{"kernel_source":{}}})"},
                                       {"verify_kernel", "", "{}"}};
  for (const char* piece : {"<my_tool_call>{",
                            "<my_tool_call>{}",
                            "{",
                            "[{",
                            "call:compile_kernel{a:",
                            "tool_call",
                            "<x_tool_call>verify_kernel",
                            "<invoke>",
                            "<verify_kernel>\n",
                            ">>>verify_kernel\n{",
                            "verify_kernel(",
                            "print(verify_kernel(",
                            "<a:invoke name=",
                            "]<]minimax[>[",
                            "<tool_calls>",
                            "Action:",
                            "Action Input:{",
                            "```json",
                            "<|x|>",
                            "<|open|>call tool="}) {
    const auto text = repeated(piece, (std::size_t{1} << 18) / std::string_view(piece).size());
    Message message{Role::assistant, text, {}, "", false};
    EXPECT_LT(cpu_seconds_of([&] { recover_text_calls(message, tools); }), 5) << piece;
    Message silent{Role::assistant, "", {}, "", false};
    EXPECT_LT(cpu_seconds_of([&] { recover_thought_call(silent, text, tools); }), 5) << piece;
  }
}

}  // namespace
}  // namespace nkigrid::model
