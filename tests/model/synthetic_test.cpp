#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "jobs/base/hash.hpp"
#include "runner/model/chat_json.hpp"
#include "runner/model/synthetic/synthetic.hpp"
#include "tests/model/fixtures.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

const std::vector<ToolSpec> kTools = {{"compile_kernel", "", "{}"}, {"verify_kernel", "", "{}"}};

Profile profile(const std::string& levels, const std::string& rest = "") {
  return parse_profile("format: nkigrid-profile\nversion: 1\nlevels: {L1: " + levels + "}\n" + rest, "test",
                       "test.yaml");
}

ChatRequest request(const std::string& task, std::uint32_t seed, bool tools) {
  ChatRequest request;
  request.messages = {{Role::system, "prompt", {}, "", false},
                      {Role::user, "Task: " + task + "\n\nmore", {}, "", false}};
  if (tools) request.tools = kTools;
  request.seed = seed;
  return request;
}

std::string source_of(const ChatReply& reply) {
  if (!reply.message.tool_calls.empty()) return Json::parse(reply.message.tool_calls[0].arguments)["kernel_source"];
  const std::string& text = reply.message.content;
  const std::size_t begin = text.find("```python\n") + 10;
  return text.substr(begin, text.find("```\n", begin) - begin);
}

void answer(ChatRequest& request, const ChatReply& reply, const std::string& text) {
  request.messages.push_back(reply.message);
  for (const ToolCall& call : reply.message.tool_calls)
    request.messages.push_back({Role::tool, text, {}, call.id, false});
  if (reply.message.tool_calls.empty()) request.messages.push_back({Role::user, text, {}, "", false});
}

TEST(Synthetic, IsAPureFunctionOfProfileMessagesAndSeed) {
  const Profile novice = load_profile(test::profiles_folder(), "novice");
  std::set<std::string> texts;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const ChatRequest asked = request("L2/008_attention", seed, false);
    const std::string first = to_json(synthetic_reply(novice, test::seed_benchmark(), asked));
    EXPECT_EQ(first, to_json(synthetic_reply(novice, test::seed_benchmark(), asked)));
    texts.insert(first);
  }
  EXPECT_GT(texts.size(), 10u);
}

TEST(Synthetic, SaysWhatItIsAndCountsItsTokens) {
  const ChatReply reply =
      synthetic_reply(profile("{faults: [1]}"), test::seed_benchmark(), request("L1/001_add", 1, false));
  EXPECT_EQ(reply.system_fingerprint, "nkigrid-synthetic");
  EXPECT_EQ(reply.usage.input, (std::string("promptTask: L1/001_add\n\nmore").size() + 3) / 4);
  EXPECT_EQ(reply.usage.output, (reply.message.content.size() + 3) / 4);
}

TEST(Synthetic, WithoutFaultsItGivesTheKnownKernel) {
  for (const bool tools : {false, true}) {
    const ChatReply reply =
        synthetic_reply(profile("{faults: [1]}"), test::seed_benchmark(), request("L1/007_softmax", 1, tools));
    EXPECT_EQ(source_of(reply), test::seed_benchmark().known_kernel("L1/007_softmax"));
  }
}

TEST(Synthetic, BreaksTheKernelInManyWays) {
  std::set<std::string> sources;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    sources.insert(source_of(
        synthetic_reply(profile("{faults: [0, 1]}"), test::seed_benchmark(), request("L1/008_matmul", seed, false))));
  }
  EXPECT_FALSE(sources.contains(test::seed_benchmark().known_kernel("L1/008_matmul")));
  EXPECT_GT(sources.size(), 15u);
}

TEST(Synthetic, RepairsWhatTheDiagnosticNamesAndNothingElse) {
  const Profile sure = profile("{faults: [0, 1]}", "repair: {exact: 1, named: 1}\nweights: {partitions_256: 1000}\n");
  ChatRequest asked = request("L1/008_matmul", 4, true);
  const ChatReply first = synthetic_reply(sure, test::seed_benchmark(), asked);
  ASSERT_NE(source_of(first).find("256"), std::string::npos);
  ChatRequest unrelated = asked;
  answer(unrelated, first, R"({"ok":false,"code":"DTYPE","line":null,"message":"","warnings":[]})");
  EXPECT_EQ(source_of(synthetic_reply(sure, test::seed_benchmark(), unrelated)), source_of(first));
  answer(asked, first, R"({"ok":false,"code":"PARTITION_LIMIT","line":null,"message":"","warnings":[]})");
  EXPECT_EQ(source_of(synthetic_reply(sure, test::seed_benchmark(), asked)),
            test::seed_benchmark().known_kernel("L1/008_matmul"));
}

TEST(Synthetic, ReadsRawCompilerTextToo) {
  const Profile sure =
      profile("{faults: [0, 1]}", "repair: {named: 1, exact: 1, raw_text: 1}\nweights: {partitions_256: 1000}\n");
  ChatRequest asked = request("L1/008_matmul", 4, false);
  const ChatReply first = synthetic_reply(sure, test::seed_benchmark(), asked);
  answer(asked, first, "kernel.py:99: ValueError: number of partitions 256 exceeds 128");
  EXPECT_EQ(source_of(synthetic_reply(sure, test::seed_benchmark(), asked)),
            test::seed_benchmark().known_kernel("L1/008_matmul"));
}

TEST(Synthetic, VerifiesWhatCompilesAndStopsWhenItPasses) {
  const Profile right = profile("{faults: [1]}");
  ChatRequest asked = request("L1/001_add", 1, true);
  ChatReply reply = synthetic_reply(right, test::seed_benchmark(), asked);
  answer(asked, reply, R"({"ok":true,"kernel":"k1","warnings":[]})");
  reply = synthetic_reply(right, test::seed_benchmark(), asked);
  ASSERT_EQ(reply.message.tool_calls.size(), 1u);
  EXPECT_EQ(reply.message.tool_calls[0].name, "verify_kernel");
  answer(asked, reply, R"({"ok":true,"kernel":"k1","trials":3,"max_abs_err":0,"rel_l2":0})");
  reply = synthetic_reply(right, test::seed_benchmark(), asked);
  EXPECT_TRUE(reply.message.tool_calls.empty());
  EXPECT_EQ(reply.finish, Finish::stop);
}

TEST(Synthetic, MayBreakCorrectCodeAfterAWarning) {
  const Profile nervous = profile("{faults: [1], over_reacts: 1}");
  ChatRequest asked = request("L1/001_add", 1, true);
  const ChatReply reply = synthetic_reply(nervous, test::seed_benchmark(), asked);
  answer(asked, reply, R"({"ok":true,"kernel":"k1","warnings":["warning (not blocking): x"]})");
  EXPECT_NE(source_of(synthetic_reply(nervous, test::seed_benchmark(), asked)),
            test::seed_benchmark().known_kernel("L1/001_add"));
}

TEST(Synthetic, FormatFaultsHaveHonestFinishReasons) {
  const ChatReply talk =
      synthetic_reply(profile("{faults: [1], no_code: 1}"), test::seed_benchmark(), request("L1/001_add", 1, false));
  EXPECT_EQ(talk.message.content.find("```"), std::string::npos);
  const ChatReply cut =
      synthetic_reply(profile("{faults: [1], truncated: 1}"), test::seed_benchmark(), request("L1/001_add", 1, true));
  EXPECT_EQ(cut.finish, Finish::length);
  EXPECT_TRUE(Json::parse(cut.message.tool_calls[0].arguments, nullptr, false).is_discarded());
  const ChatReply open = synthetic_reply(profile("{faults: [1], unclosed_fence: 1}"), test::seed_benchmark(),
                                         request("L1/001_add", 1, false));
  EXPECT_EQ(open.finish, Finish::stop);
  EXPECT_EQ(open.message.content.find("```\n"), std::string::npos);
}

TEST(Synthetic, UnknownTasksAreRefusedAndNoTaskIsAnswered) {
  const Profile right = profile("{faults: [1]}");
  EXPECT_THROW(synthetic_reply(right, test::seed_benchmark(), request("L1/999_none", 1, false)), ChatError);
  ChatRequest hello;
  hello.messages = {{Role::user, "hello", {}, "", false}};
  EXPECT_NE(synthetic_reply(right, test::seed_benchmark(), hello).message.content.find("synthetic model"),
            std::string::npos);
}

/// Share of first kernels that are the known one, over the demo's tasks of a level.
double share_right(const Profile& profile, const std::string& level, bool tools) {
  int right = 0, all = 0;
  for (const std::string& id : test::seed_benchmark().subsets.at("nkigen-demo")) {
    const jobs::Task& task = *test::seed_benchmark().find(id);
    if (task.level != level) continue;
    for (std::uint32_t seed = 0; seed < 40; ++seed, ++all) {
      const ChatReply reply = synthetic_reply(profile, test::seed_benchmark(), request(task.id, seed, tools));
      right += reply.message.content.find(test::seed_benchmark().known_kernel(task.id)) != std::string::npos ? 1 : 0;
    }
  }
  return static_cast<double>(right) / all;
}

TEST(Synthetic, FirstKernelsFollowTheProfilesShape) {
  const Profile novice = load_profile(test::profiles_folder(), "novice");
  const double l1 = share_right(novice, "L1", false), l2 = share_right(novice, "L2", false),
               l3 = share_right(novice, "L3", false);
  EXPECT_NEAR(l1, novice.level("L1").faults[0], 0.08);  // 480 draws: 3 standard errors are 0.07
  EXPECT_NEAR(l2, novice.level("L2").faults[0], 0.06);
  EXPECT_GT(l1, l2);
  EXPECT_GT(l2, l3);
}

}  // namespace
}  // namespace nkigrid::model
