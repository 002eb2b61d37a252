// The neuron backend on stand-ins for the vendor's compiler and runtime. What these tests prove is our side of both
// interfaces; nothing here has run on hardware.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "jobs/base/error.hpp"
#include "tests/device/neuron/fake_node.hpp"

namespace nkigrid::device {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Outcome outcome_of(const Diagnostic& why) {
  return why.code == Code::none ? Outcome::pass : nkigrid::outcome_of(why.code, why.stage);
}

CompileResult compile(Device& device, const std::string& source) {
  return device.compile(small_task(), source, std::nullopt);
}

/// @param order to the runtime, for this kernel alone
Diagnostic verified(Device& device, const std::string& source, const std::string& order = {}) {
  const auto compiled = compile(device, source);
  EXPECT_TRUE(compiled.ok()) << compiled.diagnostic.message;
  if (!compiled.ok()) return compiled.diagnostic;
  return device
      .verify(small_task(), order.empty() ? *compiled.artifact : with_order(*compiled.artifact, order), Stream::tool, 1)
      .diagnostic;
}

/// True while a process has this word on its command line.
bool is_running(const std::string& word) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    std::string line;
    while (std::getline(file, line, '\0'))
      if (line == word) return true;
  }
  return false;
}

TEST(NeuronDevice, GoodKernelPassesBothRules) {
  FakeNode node;
  const auto device = node.device();
  EXPECT_EQ(device->backend(), "neuron");
  EXPECT_TRUE(device->is_hardware());
  EXPECT_EQ(device->compiler(), "neuronx-cc 2.19.8089.0");
  const auto compiled = compile(*device, data_file("good.py"));
  ASSERT_TRUE(compiled.ok()) << compiled.diagnostic.message;
  EXPECT_EQ(compiled.artifact->entry, "kernel");
  const auto result = device->final_check(small_task(), *compiled.artifact);
  EXPECT_TRUE(result.paper_ok && result.strict_ok) << result.diagnostic.message;
  EXPECT_EQ(result.trials_passed, 5U);
}

TEST(NeuronDevice, CompilerGetsACleanEnvironment) {
  ::setenv("NEURON_RT_VISIBLE_CORES", "0-1", 1);
  ::setenv("NKIGRID_TEST_SECRET", "s", 1);
  FakeNode node;
  node.spec.compiler_flags = {"--disable-dge"};
  const auto backend = node.backend();
  const auto attempt = backend->compile(small_task(), data_file("good.py"), std::nullopt, Seconds(60));
  ::unsetenv("NEURON_RT_VISIBLE_CORES");
  ::unsetenv("NKIGRID_TEST_SECRET");
  ASSERT_TRUE(attempt.result.ok()) << attempt.result.diagnostic.message;
  const auto told = about(attempt.result.artifact->bytes);
  EXPECT_EQ(told.at("flags"), "--auto-cast=none --disable-dge");
  const auto names = told.at("environment").get<std::vector<std::string>>();
  for (const char* absent : {"NEURON_RT_VISIBLE_CORES", "NKIGRID_TEST_SECRET", "NKIGRID_CORES"})
    EXPECT_THAT(names, Not(testing::Contains(absent)));
  EXPECT_THAT(names, testing::Contains("NEURON_COMPILE_CACHE_URL"));
}

TEST(NeuronDevice, WrongKernelsAreToldApartAsOnTheSimulator) {
  FakeNode node;
  const auto device = node.device();
  struct Case {
    const char* file;
    Code code;
  };
  for (const auto& [file, code] :
       {Case{"wrong_sign.py", Code::numeric_mismatch}, Case{"half_stored.py", Code::non_finite_uninit},
        Case{"wrong_shape.py", Code::wrong_output_shape_dtype}, Case{"zeros.py", Code::numeric_mismatch}}) {
    SCOPED_TRACE(file);
    const auto why = verified(*device, data_file(file));
    EXPECT_EQ(why.code, code) << why.message;
    EXPECT_EQ(outcome_of(why), Outcome::mismatch);
  }
  const auto compiled = compile(*device, data_file("depends_on_poison.py"));
  ASSERT_TRUE(compiled.ok()) << compiled.diagnostic.message;
}

TEST(NeuronDevice, RefusalsOfTheTracerHaveCodeAndLine) {
  FakeNode node;
  const auto backend = node.backend();
  const std::string head =
      "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\n\n\n@nki.jit\ndef kernel(x, weight):\n";
  struct Case {
    std::string source;
    Code code;
    Stage stage;
    std::uint32_t line;
  };
  for (const auto& [source, code, stage, line] :
       {Case{data_file("invented_name.py"), Code::unknown_api, Stage::trace, 8},
        Case{head + "    t = nl.ndarray((256, 4), dtype=nl.float32, buffer=nl.sbuf)\n    return t\n",
             Code::partition_limit, Stage::trace, 7},
        Case{head + "    return nl.exp(x)\n", Code::wrong_memory, Stage::trace, 7},
        Case{head + "    return nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)\n", Code::output_contract,
             Stage::trace, 7},
        Case{head + "    return undefined_name\n", Code::py_syntax, Stage::parse, 7},
        Case{"def kernel(x:\n", Code::py_syntax, Stage::parse, 1},
        Case{"import torch\n" + head + "    return x\n", Code::py_syntax, Stage::parse, 1},
        Case{"import nki\n" + head + "    return x\n", Code::wrong_api_era, Stage::parse, 1},
        Case{"import neuronxcc.nki as nki\n\n\n@nki.jit(mode=\"trace\")\ndef kernel(x, w):\n    return x\n",
             Code::no_kernel, Stage::parse, 5},
        Case{"import neuronxcc.nki as nki\n\n\n@nki.jit\ndef kernel(x):\n    return x\n", Code::no_kernel, Stage::parse,
             4}}) {
    const auto attempt = backend->compile(small_task(), source, std::nullopt, Seconds(60));
    const auto& why = attempt.result.diagnostic;
    EXPECT_FALSE(attempt.result.ok());
    EXPECT_EQ(why.code, code) << to_string(why.code) << ": " << why.message;
    EXPECT_EQ(why.stage, stage) << why.message;
    EXPECT_EQ(why.line, line) << why.message;
    EXPECT_EQ(attempt.doubt, "");
    EXPECT_THAT(why.message, Not(HasSubstr("/tmp")));
  }
}

TEST(NeuronDevice, BackendsExit70IsTheKernelsWhileTheCanaryCompiles) {
  FakeNode node;
  const auto device = node.device();
  auto why = compile(*device, with("good.py", "cc: exit 70 [NLA001] address out of bound")).diagnostic;
  EXPECT_EQ(why.code, Code::capacity) << why.message;
  EXPECT_EQ(outcome_of(why), Outcome::compile_fail);
  EXPECT_THAT(why.message, AllOf(HasSubstr("exit status 70"), HasSubstr("[NLA001] address out of bound"),
                                 Not(HasSubstr("4711")), Not(HasSubstr("2025-07-05")), Not(HasSubstr("/opt/vendor"))));
  why = compile(*device, with("good.py", "cc: exit 70 [F134] internal")).diagnostic;
  EXPECT_EQ(why.code, Code::compiler_internal) << why.message;
  EXPECT_EQ(compile(*device, with("good.py", "cc: empty")).diagnostic.code, Code::compiler_internal);
  EXPECT_EQ(compile(*device, with("good.py", "nki: crash")).diagnostic.code, Code::compiler_internal);
  node.order("compiler", "exit 70 [F134] no space left");
  why = compile(*device, with("good.py", "cc: exit 70 [NLA001] again")).diagnostic;
  EXPECT_EQ(why.code, Code::infra);
  EXPECT_THAT(why.message, HasSubstr("and the canary kernel fails too"));
}

TEST(NeuronDevice, KernelThatStopsItsCompilerIsNoMachinesFault) {
  FakeNode node;
  const auto backend = node.backend();
  const auto attempt = backend->compile(small_task(), with("good.py", "nki: stop"), std::nullopt, Seconds(60));
  EXPECT_EQ(attempt.result.diagnostic.code, Code::compiler_internal);
  EXPECT_THAT(attempt.result.diagnostic.message, HasSubstr("stopped by a signal, twice"));
  EXPECT_NE(attempt.doubt, "");
}

TEST(NeuronDevice, TimeoutLeavesNobodyBehind) {
  FakeNode node;
  const auto backend = node.backend();
  const std::string word = "277.125";
  const auto attempt = backend->compile(small_task(), with("good.py", "cc: hang " + word), std::nullopt, Seconds(4));
  EXPECT_EQ(attempt.result.diagnostic.code, Code::compile_timeout);
  EXPECT_EQ(outcome_of(attempt.result.diagnostic), Outcome::compile_timeout);
  EXPECT_FALSE(is_running(word));
}

TEST(NeuronDevice, SilentZerosAreTheMachinesWhenTheCanaryIsZeroToo) {
  FakeNode node;
  const auto device = node.device();
  auto why = verified(*device, data_file("good.py"), "zeros");
  EXPECT_EQ(why.code, Code::numeric_mismatch) << why.message;
  node.order("nrt", "zeros");
  why = verified(*device, data_file("good.py"));
  EXPECT_EQ(why.code, Code::infra);
  EXPECT_THAT(why.message, HasSubstr("all zeros"));
}

TEST(NeuronDevice, RuntimeStatusesBecomeOutcomes) {
  FakeNode node;
  node.check.run_timeout = Seconds(5);
  const auto device = node.device();
  struct Case {
    const char* order;
    Code code;
    Outcome outcome;
    const char* words;
  };
  for (const auto& [order, code, outcome, words] :
       {Case{"nrt_execute 1004", Code::runtime_device, Outcome::run_fail, "ended twice: nrt_execute returned 1004"},
        Case{"nrt_execute 1203", Code::runtime_device, Outcome::run_fail, "NRT_EXEC_HW_ERR_DMA_ABORT"},
        Case{"nrt_execute 1003", Code::runtime_device, Outcome::run_fail, "NaN"},
        Case{"nrt_execute 1006", Code::oob, Outcome::run_fail, "out of bounds"},
        Case{"nrt_execute 5", Code::runtime_device, Outcome::run_fail, "did not finish within 5 s"},
        Case{"crash", Code::runtime_device, Outcome::run_fail, "killed by signal 11"},
        Case{"nrt_load 10", Code::infra, Outcome::verifier_error, "NRT_UNSUPPORTED_NEFF_VERSION"},
        Case{"nrt_load 9", Code::infra, Outcome::verifier_error, "NRT_LOAD_NOT_ENOUGH_NC"}}) {
    SCOPED_TRACE(order);
    const auto why = verified(*device, data_file("good.py"), order);
    EXPECT_EQ(why.code, code) << why.message;
    EXPECT_EQ(outcome_of(why), outcome);
    EXPECT_THAT(why.message, HasSubstr(words));
  }
}

TEST(NeuronDevice, KernelThatHangsIsKilledAtRunTimeout) {
  FakeNode node;
  node.check.run_timeout = Seconds(2);
  const auto device = node.device();
  const auto why = verified(*device, data_file("good.py"), "hang");
  EXPECT_EQ(why.code, Code::runtime_device);
  EXPECT_THAT(why.message, HasSubstr("did not finish within 2 s"));
  EXPECT_EQ(verified(*device, data_file("good.py")).code, Code::none) << "the core is trusted again after its canary";
}

TEST(NeuronDevice, CoreThatComesBackIsUsedAgain) {
  FakeNode node;
  const auto device = node.device();
  EXPECT_EQ(verified(*device, data_file("good.py"), "poison 1").code, Code::runtime_device);
  EXPECT_EQ(verified(*device, data_file("good.py")).code, Code::none);
}

TEST(NeuronDevice, RunStopsWhenNoCorePassesItsCanary) {
  FakeNode node;
  const auto device = node.device();
  try {
    verified(*device, data_file("good.py"), "poison 20");
    FAIL() << "no core works any more";
  } catch (const DeviceLost& error) {
    EXPECT_EQ(error.code(), ErrorCode::external);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("no NeuronCore of this node passes the canary"),
                                    HasSubstr("core 0: its run child ended: nrt_execute returned 1004")));
  }
}

TEST(NeuronDevice, RetiredCoreLeavesTheWorkToOthers) {
  FakeNode node;
  node.spec.cores = {0, 1};
  const auto device = node.device();
  std::ofstream(node.path("dev/neuron0")) << "0 1000\n";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(verified(*device, data_file("good.py")).code, Code::none);
}

TEST(NeuronDevice, DeviceThatIsBrokenFromTheStartIsOneClearError) {
  FakeNode node;
  node.order("nrt", "nrt_init 1202");
  try {
    node.device();
    FAIL() << "the canary cannot pass";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::external);
    EXPECT_THAT(error.what(), HasSubstr("nrt_init returned 1202"));
  }
}

TEST(NeuronDevice, KernelsFileCannotBeWrittenOrReadOutsideItsFolder) {
  FakeNode node;
  const auto backend = node.backend();
  for (const auto& [act, path] :
       {std::pair{"open(\"/tmp/nkigrid-neuron-escape\", \"w\")", "/tmp/nkigrid-neuron-escape"},
        std::pair{"open(\"/root/.profile\").read()", "/root/.profile"}}) {
    const auto attempt = backend->compile(
        small_task(),
        std::string("import neuronxcc.nki as nki\n") + act + "\n\n\n@nki.jit\ndef kernel(x, w):\n    return x\n",
        std::nullopt, Seconds(60));
    EXPECT_EQ(attempt.result.diagnostic.line, 2U) << path;
    EXPECT_THAT(attempt.result.diagnostic.message, HasSubstr("PermissionError"));
  }
  EXPECT_FALSE(fs::exists("/tmp/nkigrid-neuron-escape"));
}

}  // namespace
}  // namespace nkigrid::device
