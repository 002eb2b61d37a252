#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runner/model/recovery/call_recovery.hpp"
#include "runner/model/wire/openai_reply.hpp"
#include "tests/model/fixtures.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

const std::vector<ToolSpec> kOffered = {{"compile_kernel", "", R"({"properties":{"kernel_source":{"type":"string"}}})"},
                                        {"verify_kernel", "", R"({"properties":{"trials":{"type":"integer"}}})"}};
const std::string kKernelText = "import neuronxcc.nki as nki\nif a[0] < {1: \"}\"}[1]:\n    pass\n";
const std::string kKernelArguments = Json{{"kernel_source", kKernelText}}.dump();

TEST(CallRecovery, ReadsEachTemplatesForm) {
  const std::vector<std::pair<std::string, std::string>> said = {
      {"hermes", "<tool_call>\n{\"name\": \"compile_kernel\", \"arguments\": " + kKernelArguments + "}\n</tool_call>"},
      {"mistral", "[TOOL_CALLS][{\"name\": \"compile_kernel\", \"arguments\": " + kKernelArguments + "}]"},
      {"mistral", "[TOOL_CALLS]compile_kernel[ARGS]" + kKernelArguments},
      {"llama", "<|python_tag|>{\"name\": \"compile_kernel\", \"parameters\": " + kKernelArguments + "}"},
      {"deepseek",
       "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>compile_kernel\n"
       "```json\n" +
           kKernelArguments + "\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"},
      {"kimi", "<|tool_calls_section_begin|><|tool_call_begin|>functions.compile_kernel:0<|tool_call_argument_begin|>" +
                   kKernelArguments + "<|tool_call_end|><|tool_calls_section_end|>"},
      {"harmony", "<|channel|>commentary to=functions.compile_kernel <|constrain|>json<|message|>" + kKernelArguments +
                      "<|call|>"},
      {"glm", "<tool_call>compile_kernel\n<arg_key>kernel_source</arg_key>\n<arg_value>\n" + kKernelText +
                  "\n</arg_value>\n</tool_call>"}};
  for (const auto& [form, text] : said) {
    Message message{Role::assistant, "I compile it.\n\n" + text, {}, "", false};
    const Recovered recovered = recover_text_calls(message, kOffered);
    EXPECT_EQ(recovered.form, form) << text;
    ASSERT_EQ(recovered.calls, 1u) << text;
    EXPECT_EQ(message.content, "I compile it.") << text;
    EXPECT_EQ(message.tool_calls[0].name, "compile_kernel");
    EXPECT_EQ(Json::parse(message.tool_calls[0].arguments), Json::parse(kKernelArguments)) << text;
  }
}

TEST(CallRecovery, ReadsSeveralCallsOfAForm) {
  Message message{
      Role::assistant,
      "<tool_call>\n{\"name\": \"compile_kernel\", \"arguments\": " + kKernelArguments +
          "}\n</tool_call>\n<tool_call>\n{\"name\": \"verify_kernel\", \"arguments\": {\"trials\": 2}}\n</tool_call>",
      {},
      "",
      false};
  ASSERT_EQ(recover_text_calls(message, kOffered).calls, 2u);
  EXPECT_EQ(message.tool_calls[1].name, "verify_kernel");
  EXPECT_NE(message.tool_calls[0].id, message.tool_calls[1].id);
  Message list{
      Role::assistant,
      "[TOOL_CALLS] [{\"name\":\"verify_kernel\",\"arguments\":{}}, {\"name\":\"verify_kernel\",\"arguments\":{}}]",
      {},
      "",
      false};
  EXPECT_EQ(recover_text_calls(list, kOffered).calls, 2u);
}

TEST(CallRecovery, WhatWouldBeAGuessIsLeft) {
  for (const std::string text :
       {"<tool_call>\n{\"name\": \"rm\", \"arguments\": {}}\n</tool_call>",
        "Then {\"name\": \"verify_kernel\", \"arguments\": {}} follows.", "I could write <tool_call> here.",
        "<tool_call>{\"name\": \"verify_kernel\", \"arguments\": {", "[TOOL_CALLS]",
        "<|tool_call_begin|>functions.compile_kernel or verify_kernel{\"trials\":1}"}) {
    Message message{Role::assistant, text, {}, "", false};
    EXPECT_EQ(recover_text_calls(message, kOffered).calls, 0u) << text;
    EXPECT_EQ(message.content, text);
  }
}

TEST(CallRecovery, BesideCallsThatTheServerParsedTheTextHoldsNone) {
  const std::string text = "<tool_call>\n{\"name\": \"verify_kernel\", \"arguments\": {\"trials\": 2}}\n</tool_call>";
  Message message{Role::assistant, text, {{"a", "compile_kernel", kKernelArguments}}, "", false};
  EXPECT_EQ(recover_text_calls(message, kOffered).calls, 0u) << "an echo, a plan or a second call: nobody can tell";
  EXPECT_EQ(message.tool_calls.size(), 1u);
  EXPECT_EQ(message.content, text) << "it goes back as it was said";
}

TEST(CallRecovery, TakesTheExactTextBetweenTheTags) {
  ChatReply reply = parse_chat_response(test::case_text("04_call_left_in_text.json")).value();
  const std::vector<ToolSpec> tools = {{"compile_kernel", "", R"({"properties":{"kernel_source":{"type":"string"}}})"}};
  ASSERT_EQ(recover_text_calls(reply.message, tools).form, "text_xml");
  EXPECT_EQ(reply.message.content, "I will compile it first.");
  EXPECT_EQ(reply.message.tool_calls[0].name, "compile_kernel");
  EXPECT_EQ(Json::parse(reply.message.tool_calls[0].arguments)["kernel_source"],
            "import neuronxcc.nki as nki\nif 1 < 2 and \"</b>\" != \"<b>\":\n    pass");
}

TEST(CallRecovery, ReadsIntegersAndSeveralCalls) {
  Message message{Role::assistant,
                  "<tool_call>\n<function=a>\n<parameter=n>\n5\n</parameter>\n</function>\n</"
                  "tool_call>\n<tool_call>\n<function=b>\n</function>\n</tool_call>",
                  {},
                  "",
                  false};
  ASSERT_EQ(
      recover_text_calls(message, {{"a", "", R"({"properties":{"n":{"type":"integer"}}})"}, {"b", "", "{}"}}).calls,
      2u);
  EXPECT_EQ(message.content, "");
  EXPECT_EQ(message.tool_calls[0].arguments, R"({"n":5})");
  EXPECT_EQ(message.tool_calls[1].name, "b");
}

TEST(CallRecovery, LeavesUnknownFunctionsAlone) {
  Message message{Role::assistant, "<function=rm>\n</function>", {}, "", false};
  EXPECT_EQ(recover_text_calls(message, {{"a", "", "{}"}}).calls, 0u);
  EXPECT_EQ(message.content, "<function=rm>\n</function>");
}

}  // namespace
}  // namespace nkigrid::model
