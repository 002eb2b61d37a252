#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "runner/device/sim/fork_servers.hpp"
#include "tests/device/small_task.hpp"

namespace nkigrid::device {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SimDevice, GoodKernelPassesBothRules) {
  TestDevice test;
  const auto compiled = test.compile(data_file("good.py"));
  ASSERT_TRUE(compiled.ok()) << compiled.diagnostic.message;
  EXPECT_EQ(compiled.artifact->entry, "kernel");
  EXPECT_GT(compiled.estimate_us, 0);
  const auto tool = test.device->verify(small_task(), *compiled.artifact, Stream::tool, 3);
  EXPECT_TRUE(tool.paper_ok) << tool.diagnostic.message;
  EXPECT_FALSE(tool.strict_ok) << "only the final check decides it";
  EXPECT_EQ(tool.trials_passed, 3U);
  const auto final_result = test.device->final_check(small_task(), *compiled.artifact);
  EXPECT_TRUE(final_result.paper_ok && final_result.strict_ok) << final_result.diagnostic.message;
  EXPECT_EQ(final_result.trials, 5U);
  EXPECT_LT(final_result.rel_l2, 1e-6);
}

TEST(SimDevice, WrongKernelsAreToldApart) {
  TestDevice test;
  struct Case {
    const char* file;
    Code code;
  };
  for (const auto& [file, code] :
       {Case{"wrong_sign.py", Code::numeric_mismatch}, Case{"half_stored.py", Code::non_finite_uninit},
        Case{"wrong_shape.py", Code::wrong_output_shape_dtype}, Case{"zeros.py", Code::numeric_mismatch}}) {
    SCOPED_TRACE(file);
    const auto compiled = test.compile(data_file(file));
    ASSERT_TRUE(compiled.ok()) << compiled.diagnostic.message;
    const auto result = test.device->final_check(small_task(), *compiled.artifact);
    EXPECT_FALSE(result.paper_ok || result.strict_ok);
    EXPECT_EQ(result.diagnostic.code, code) << result.diagnostic.message;
    EXPECT_EQ(outcome_of(result.diagnostic.code, result.diagnostic.stage), Outcome::mismatch);
  }
}

TEST(SimDevice, MismatchSaysWhereAndWhat) {
  TestDevice test;
  const auto compiled = test.compile(data_file("half_stored.py"));
  ASSERT_TRUE(compiled.ok()) << compiled.diagnostic.message;
  const auto result = test.device->verify(small_task(), *compiled.artifact, Stream::tool, 1);
  EXPECT_EQ(result.elements, 128u * 64u);
  EXPECT_EQ(result.mismatches, 64u * 64u) << "the lower half";
  ASSERT_TRUE(result.first);
  EXPECT_EQ(result.first->index, (std::vector<std::int64_t>{64, 0}));
  EXPECT_TRUE(std::isnan(result.first->got));
  EXPECT_THAT(result.hints, Contains(HasSubstr("[64:128, :] of [128, 64]")));
  EXPECT_EQ(result.trials_passed, 0U);
}

TEST(SimDevice, AProfileIsOfTheSameEstimateAndNamesTheKernelsLines) {
  TestDevice test;
  const auto compiled = test.compile(data_file("good.py"));
  ASSERT_TRUE(compiled.ok()) << compiled.diagnostic.message;
  const auto text = test.device->profile(*compiled.artifact);
  ASSERT_TRUE(text);
  EXPECT_LE(text->size(), 12u << 10);
  const auto profile = nlohmann::json::parse(*text);
  EXPECT_EQ(profile["estimate_us"], compiled.estimate_us);
  EXPECT_TRUE(profile["engines"].contains(profile["bound"]));
  ASSERT_FALSE(profile["longest_lines"].empty());
  EXPECT_GT(profile["longest_lines"][0]["line"], 0);
  EXPECT_EQ(profile["first_operations"][0]["operation"], "load");
}

TEST(SimDevice, InventedNameIsACompileFailureWithItsLine) {
  TestDevice test;
  const auto compiled = test.compile(data_file("invented_name.py"));
  EXPECT_FALSE(compiled.ok());
  EXPECT_EQ(compiled.diagnostic.code, Code::unknown_api);
  EXPECT_EQ(compiled.diagnostic.line, 8U);
  EXPECT_THAT(compiled.diagnostic.message, AllOf(HasSubstr("plus"), HasSubstr("kernel.py")));
}

TEST(SimDevice, SourcesThatAreNoTextAreRefusedAsSyntax) {
  TestDevice test;
  for (const auto& [source, words] :
       {std::pair{std::string("x = 1\ny = '\0'\n", 14), "null bytes"},
        std::pair{std::string("x = '\xff'\n"), "not valid UTF-8"}, std::pair{std::string(65537, '#'), "65537 bytes"}}) {
    const auto compiled = test.compile(source);
    EXPECT_EQ(compiled.diagnostic.code, Code::py_syntax);
    EXPECT_THAT(compiled.diagnostic.message, HasSubstr(words));
  }
}

TEST(SimDevice, ZerosThatPassUnderTheToleranceAreACheat) {
  TestDevice test;
  const auto task = small_task("1e-5");  // every reference element is far below atol
  const auto compiled = test.compile(data_file("zeros.py"), task);
  ASSERT_TRUE(compiled.ok()) << compiled.diagnostic.message;
  const auto tool = test.device->verify(task, *compiled.artifact, Stream::tool, 2);
  EXPECT_TRUE(tool.paper_ok) << "the paper rule alone lets it through";
  const auto result = test.device->final_check(task, *compiled.artifact);
  EXPECT_EQ(result.diagnostic.code, Code::rule_violation);
  EXPECT_THAT(result.diagnostic.message, HasSubstr("does not depend on the inputs"));
  EXPECT_FALSE(result.paper_ok || result.strict_ok);
}

TEST(SimDevice, OutputThatHangsOnUndefinedMemoryIsACheat) {
  TestDevice test;
  const auto compiled = test.compile(data_file("depends_on_poison.py"));
  ASSERT_TRUE(compiled.ok()) << compiled.diagnostic.message;
  EXPECT_TRUE(test.device->verify(small_task(), *compiled.artifact, Stream::tool, 1).paper_ok);
  const auto result = test.device->final_check(small_task(), *compiled.artifact);
  EXPECT_EQ(result.diagnostic.code, Code::rule_violation);
  EXPECT_THAT(result.diagnostic.message, HasSubstr("not reproduced"));
}

TEST(SimDevice, ConstantsOverTheLimitAreACheatOnlyWhenTheyPass) {
  TestDevice test;
  auto artifact = *test.compile(data_file("good.py")).artifact;
  artifact.constant_bytes = 64 * 1024;
  EXPECT_TRUE(test.device->final_check(small_task(), artifact).strict_ok);
  artifact.constant_bytes += 1;
  EXPECT_EQ(test.device->final_check(small_task(), artifact).diagnostic.code, Code::rule_violation);
  auto wrong = *test.compile(data_file("wrong_sign.py")).artifact;
  wrong.constant_bytes = 1 << 20;
  EXPECT_EQ(test.device->final_check(small_task(), wrong).diagnostic.code, Code::numeric_mismatch);
}

/// The good kernel with two constant tensors of 128 rows that it loads.
std::string with_constants(int columns_a, int columns_b) {
  auto source = data_file("good.py");
  std::string loads;
  for (const int columns : {columns_a, columns_b}) {
    loads += fmt::format("    nl.load(nl.shared_constant(np.arange({}, dtype=np.float32).reshape(128, {})))\n",
                         128 * columns, columns);
  }
  source.insert(source.find("    out ="), loads);
  return "import numpy as np\n" + source;
}

TEST(SimDevice, ConstantsOverTheLimitAreWarnedOfAtCompileAndRefusedAtTheEnd) {
  TestDevice test;
  const auto fits = test.compile(with_constants(64, 64));
  ASSERT_TRUE(fits.ok()) << fits.diagnostic.message;
  EXPECT_EQ(fits.artifact->constant_bytes, 64 * 1024U);
  EXPECT_TRUE(fits.warnings.empty());
  EXPECT_TRUE(test.device->final_check(small_task(), *fits.artifact).strict_ok);
  const auto over = test.compile(with_constants(64, 65));
  ASSERT_TRUE(over.ok()) << over.diagnostic.message;
  EXPECT_THAT(over.warnings, testing::ElementsAre(AllOf(testing::StartsWith("warning (not blocking): "),
                                                        HasSubstr("66048 bytes of constants"), HasSubstr("65536"))));
  const auto last = test.device->final_check(small_task(), *over.artifact);
  EXPECT_EQ(last.diagnostic.code, Code::rule_violation);
  EXPECT_THAT(last.diagnostic.message, HasSubstr("66048 bytes of constants"));
}

TEST(SimDevice, SameSourceHasTheSameArtifactEvenFromTwoLanes) {
  TestDevice test;
  std::array<CompileResult, 4> results;
  std::vector<std::thread> lanes;
  for (auto& result : results) lanes.emplace_back([&] { result = test.compile(data_file("good.py")); });
  for (auto& lane : lanes) lane.join();
  for (const auto& result : results) EXPECT_EQ(result.artifact, results[0].artifact);
  TestDevice other;
  EXPECT_EQ(other.compile(data_file("good.py")).artifact->bytes, results[0].artifact->bytes);
}

TEST(SimDevice, ManyLanesCheckAtOnce) {
  TestDevice test;
  std::atomic<int> passed{0};
  std::vector<std::thread> lanes;
  for (int lane = 0; lane < 6; ++lane) {
    lanes.emplace_back([&test, &passed, lane] {
      const auto source = data_file("good.py") + "# lane " + std::to_string(lane) + "\n";
      const auto compiled = test.compile(source);
      if (compiled.ok() && test.device->verify(small_task(), *compiled.artifact, Stream::tool, 3).paper_ok) ++passed;
    });
  }
  for (auto& lane : lanes) lane.join();
  EXPECT_EQ(passed, 6);
}

TEST(SimDevice, BackendsAndTargetsThatAreNotThereAreRefused) {
  const auto refused = [](const std::string& backend, const std::string& target) {
    try {
      make_device({{.target = target}, jobs::backend_named(backend)}, {}, 1, nullptr, test_paths());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::config);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(refused("abacus", "trn1"), HasSubstr("'abacus' is not in this version"));
  EXPECT_THAT(refused("sim", "trn2"), HasSubstr("'trn2' is not simulated"));
}

TEST(SimDevice, ServersThatDieAreStartedAgainAndGivenUpInTheEnd) {
  TestDevice test;
  const auto compiled = test.compile(data_file("good.py"));
  const auto kill_server = [](KeptServer& server) { ASSERT_EQ(::kill(server.pid(), SIGKILL), 0); };
  auto& servers = dynamic_cast<ForkServers&>(*test.servers);
  kill_server(servers.tracer());
  kill_server(servers.run());
  EXPECT_TRUE(test.compile(data_file("good.py") + "# again\n").ok());
  EXPECT_TRUE(test.device->verify(small_task(), *compiled.artifact, Stream::tool, 1).paper_ok);
  try {
    for (int i = 0; i < 10; ++i) {
      kill_server(servers.tracer());
      test.compile(data_file("good.py") + "# " + std::to_string(i) + "\n");
    }
    FAIL() << "a server that dies for ever should stop the run";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::external);
    EXPECT_THAT(error.what(), HasSubstr("tracer server"));
  }
}

TEST(SimDevice, BrokenTaskIsTheMachinerysFault) {
  TestDevice test;
  auto task = small_task();
  task.source = "raise ValueError('broken task')\n";
  task.hash = sha256_hex(task.source);
  const auto compiled = test.compile(data_file("good.py"));
  const auto result = test.device->verify(task, *compiled.artifact, Stream::tool, 1);
  EXPECT_EQ(result.diagnostic.code, Code::infra);
  EXPECT_THAT(result.diagnostic.message, HasSubstr("broken task"));
}

}  // namespace
}  // namespace nkigrid::device
