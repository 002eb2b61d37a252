#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>

#include "jobs/base/files.hpp"
#include "runner/agent/answers.hpp"
#include "runner/agent/tools.hpp"

namespace nkigrid::agent {
namespace {

using Json = nlohmann::json;

DecodedCall decode(const std::string& name, const std::string& arguments) {
  return decode_call({"c1", name, arguments}, tool_specs(jobs::usual_tools()));
}

TEST(DecodeCall, SlipsThatLeaveNoDoubtAreMended) {
  const auto decoded = [](const std::string& arguments) {
    return decode_call({"c", "compile_kernel", arguments}, tool_specs(jobs::usual_tools()));
  };
  const auto raw = decoded("{\"kernel_source\": \"a = 1\nb = 2\n\"}");
  EXPECT_EQ(raw.problem, "");
  EXPECT_EQ(raw.source, "a = 1\nb = 2\n");
  EXPECT_TRUE(raw.mended);
  EXPECT_EQ(decoded("{'kernel_source': 'a = 1', }").source, "a = 1");
  EXPECT_FALSE(decoded(R"({"kernel_source":"a = 1"})").mended);
  EXPECT_EQ(decoded("{\"kernel_source\": \"a = 1").problem, "the arguments are no JSON object");
  EXPECT_EQ(decode_call({"c", "verify_kernel", "null"}, tool_specs(jobs::usual_tools())).problem, "");
}

TEST(DecodeCall, NullIsAnArgumentThatIsNotThere) {
  const auto verify = decode("verify_kernel", R"({"trials": null, "entry": null})");
  EXPECT_EQ(verify.problem, "");
  EXPECT_FALSE(verify.trials || verify.entry);
  for (const char* said : {"None", "null"})
    EXPECT_FALSE(decode("verify_kernel", Json{{"entry", said}}.dump()).entry) << said;
  const auto page = decode_call({"c", "read_docs", R"({"file": "a.md", "line": null})"},
                                tool_specs({jobs::Tool::compile, jobs::Tool::read_docs}));
  EXPECT_EQ(page.problem, "");
  EXPECT_EQ(page.line, 1u);
}

TEST(Tools, SchemasAreTheKernelInterfaces) {
  const auto specs = tool_specs(jobs::usual_tools());
  ASSERT_EQ(specs.size(), 2u);
  EXPECT_EQ(Json::parse(specs[0].parameters)["required"], Json::parse(R"(["kernel_source"])"));
  EXPECT_EQ(Json::parse(specs[1].parameters)["properties"]["trials"]["maximum"], 5);
}

TEST(Tools, PeelsExactlyOneLayerOfDoubleEncoding) {
  const Json body = Json::parse(read_file(std::string(NKIGRID_TEST_DATA) + "/cases/02_args_double_encoded.json"));
  const std::string arguments = body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"];
  const DecodedCall once = decode("verify_kernel", arguments);
  EXPECT_EQ(once.problem, "");
  EXPECT_TRUE(once.peeled);
  EXPECT_EQ(once.trials, 5u);
  EXPECT_EQ(once.entry, "relu_k");
  EXPECT_EQ(decode("verify_kernel", Json(arguments).dump()).problem, "the arguments are no JSON object");
  EXPECT_EQ(decode("verify_kernel", "\"text\"").problem, "the arguments are no JSON object");
}

TEST(Tools, BadArgumentsAreNamed) {
  EXPECT_EQ(decode("compile_kernel", "{}").problem,
            "'kernel_source' is missing (required: the whole Python file as a string)");
  EXPECT_EQ(decode("compile_kernel", R"({"kernel_source":5})").problem, "'kernel_source' is a number (legal: string)");
  EXPECT_EQ(decode("verify_kernel", R"({"trials":6})").problem, "'trials' is 6 (legal: an integer from 1 to 5)");
  EXPECT_EQ(decode("verify_kernel", R"({"trials":"3"})").problem, "'trials' is \"3\" (legal: an integer from 1 to 5)");
  EXPECT_EQ(decode("verify_kernel", R"({"trials":2.5})").problem, "'trials' is 2.5 (legal: an integer from 1 to 5)");
  EXPECT_EQ(decode("rm", "{}").problem, "unknown tool 'rm' (there are: compile_kernel, verify_kernel)");
  EXPECT_EQ(decode("compile_kernel", "{\"kernel_source\": \"a").problem, "the arguments are no JSON object");
}

TEST(Tools, ANameThatCanMeanOneToolAloneIsThatTools) {
  const auto tools = tool_specs(jobs::usual_tools());
  for (const std::string name :
       {"compile_kernel", "functions.compile_kernel:0", "functions_compile_kernel", "tools/compile_kernel",
        "default_api.compile_kernel", "mcp__nki__compile_kernel", "default_api::compile_kernel", "\"compile_kernel\"",
        "`compile_kernel`", "compile_kernel()", "Compile_Kernel", "compileKernel", "compile-kernel",
        " compile_kernel\n", "compile_kernelcompile_kernel", "compile_kernel.compile_kernel", "compile_kernel code",
        "compile_kernel<|channel|>json"})
    EXPECT_EQ(meant_name(name, tools), "compile_kernel") << name;
  for (const std::string name : {"", "python", "compile", "recompile_kernel", "compile_kernels", "kernel", "."})
    EXPECT_EQ(meant_name(name, tools), name);
}

TEST(Tools, UnknownArgumentsAreIgnoredWithANote) {
  const DecodedCall call = decode("verify_kernel", R"({"trials":2,"speed":1})");
  EXPECT_EQ(call.problem, "");
  EXPECT_EQ(call.notes, std::vector<std::string>{"unknown argument 'speed' ignored"});
  EXPECT_EQ(decode("verify_kernel", "").problem, "");
}

TEST(Tools, CompileAnswersHaveTheInterfacesForm) {
  device::CompileResult good;
  good.artifact = std::make_shared<device::Artifact>();
  good.warnings = {"warning (not blocking): w"};
  EXPECT_EQ(compile_answer(good, 3, {}), R"({"ok":true,"kernel":"k3","warnings":["warning (not blocking): w"]})");
  device::CompileResult bad;
  bad.diagnostic = {Code::partition_limit, Stage::trace, 12, "too many"};
  EXPECT_EQ(compile_answer(bad, 3, {"n"}),
            R"({"ok":false,"code":"PARTITION_LIMIT","line":12,"message":"too many","warnings":[],"notes":["n"]})");
}

TEST(Tools, VerifyAnswersHaveTheInterfacesForm) {
  device::VerifyResult good;
  good.paper_ok = true;
  good.strict_ok = true;
  good.trials = 3;
  good.max_abs_err = 0.25;
  EXPECT_EQ(verify_answer(good, 1, {}), R"({"ok":true,"kernel":"k1","trials":3,"max_abs_err":0.25,"rel_l2":0.0})");
  device::VerifyResult bad;
  bad.trials = 3;
  bad.trials_passed = 1;
  bad.diagnostic = {Code::numeric_mismatch, Stage::verify, 0, ""};
  bad.max_abs_err = std::numeric_limits<double>::quiet_NaN();
  bad.first = device::Mismatch{0, {128, 0}, 0.0, 0.5};
  bad.hints = {"h"};
  EXPECT_EQ(
      verify_answer(bad, 2, {}),
      R"({"ok":false,"kernel":"k2","trials":3,"passed":1,"code":"NUMERIC_MISMATCH","max_abs_err":null,"rel_l2":0.0,)"
      R"("first":{"output":0,"index":[128,0],"got":0.0,"want":0.5},"hints":["h"]})");
}

TEST(Tools, AnswersStayUnderTheirLimitWhateverTheTextIs) {
  device::CompileResult bad;
  bad.diagnostic = {Code::compiler_internal, Stage::backend, 1,
                    "first cause " + std::string(3'000'000, '\x01') + "\xff last line"};
  bad.warnings.assign(500, std::string(5000, '"'));
  const std::string answer = compile_answer(bad, 1, std::vector<std::string>(300, "note"));
  EXPECT_LE(answer.size(), kMaxAnswerBytes);
  const std::string message = Json::parse(answer)["message"];
  EXPECT_TRUE(message.starts_with("first cause"));
  EXPECT_TRUE(message.ends_with("last line"));
}

TEST(Tools, WhatAnAnswerSaidCanBeReadBack) {
  EXPECT_EQ(answered_ok(R"({"ok":true,"kernel":"k1","warnings":[]})"), true);
  EXPECT_EQ(answered_ok(R"({"ok":false,"code":"OOB"})"), false);
  EXPECT_EQ(answered_ok(error_answer("no compiled kernel")), std::nullopt);
}

}  // namespace
}  // namespace nkigrid::agent
