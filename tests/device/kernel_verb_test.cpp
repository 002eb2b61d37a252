// The verb `kernel` through the real binary: one process a case, so all of a kind share a test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "jobs/base/files.hpp"
#include "runner/proc/child.hpp"

namespace nkigrid {
namespace {

using nlohmann::json;
using testing::HasSubstr;
namespace fs = std::filesystem;

struct Answer {
  int status = -1;
  json data;
  std::string err;
};

Answer kernel(const std::string& file, const std::vector<std::string>& more = {"--task", "L1/002_gelu"}) {
  std::vector<std::string> argv = {NKIGRID_BUILD_DIR "/nkigrid", "kernel", file, "--json"};
  argv.insert(argv.end(), more.begin(), more.end());
  const auto result = proc::run_command(argv, Seconds(120), {"NKIGRID_CONFIGS=" NKIGRID_SOURCE_DIR "/configs"});
  Answer answer{-1, json::parse(result.out, nullptr, false), result.err};
  if (const auto* exited = std::get_if<proc::Exited>(&result.end)) answer.status = exited->status;
  return answer;
}

std::string known_kernel() { return read_file(NKIGRID_SOURCE_DIR "/configs/nkigen-bench/kernels/L1/002_gelu.py"); }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << "the known kernel does not hold " << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(KernelVerb, GoodKernelExits0WithBothVerdicts) {
  const auto answer = kernel(NKIGRID_SOURCE_DIR "/configs/nkigen-bench/kernels/L1/002_gelu.py");
  ASSERT_EQ(answer.status, 0) << answer.err;
  EXPECT_EQ(answer.data.at("outcome"), "pass");
  EXPECT_EQ(answer.data.at("compile").at("ok"), true);
  EXPECT_EQ(answer.data.at("verify").at("ok"), true);
  EXPECT_EQ(answer.data.at("verify").at("strict_ok"), true);
  EXPECT_EQ(answer.data.at("verify").at("trials"), 5);
  EXPECT_GT(answer.data.at("estimate_us").get<double>(), 0);
}

TEST(KernelVerb, KernelsThatFailExit1AndSayWhy) {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "kernel.py";
  std::ofstream(file) << replaced(known_kernel(), "nl.load(", "nl.fetch(");
  auto answer = kernel(file);
  EXPECT_EQ(answer.status, 1) << answer.err;
  EXPECT_EQ(answer.data.at("outcome"), "compile_fail");
  EXPECT_EQ(answer.data.at("compile").at("code"), "UNKNOWN_API");
  EXPECT_TRUE(answer.data.at("verify").is_null());
  EXPECT_TRUE(answer.data.at("estimate_us").is_null());
  std::ofstream(file) << replaced(known_kernel(), "0.044715", "0.144715");
  answer = kernel(file);
  EXPECT_EQ(answer.status, 1) << answer.err;
  EXPECT_EQ(answer.data.at("outcome"), "mismatch");
  EXPECT_EQ(answer.data.at("verify").at("code"), "NUMERIC_MISMATCH");
  const auto message = answer.data.at("verify").at("message").get<std::string>();
  EXPECT_THAT(message, HasSubstr(" elements do not match, the worst: ["));
  for (const char* which : {"first", "worst"}) {
    const auto& found = answer.data.at("verify").at(which);
    EXPECT_EQ(found.at("index").size(), 3U) << found;
    EXPECT_NE(found.at("got"), found.at("want"));
  }
}

TEST(KernelVerb, BadRequestsAreOneClearErrorEach) {
  const auto file = NKIGRID_SOURCE_DIR "/configs/nkigen-bench/kernels/L1/002_gelu.py";
  EXPECT_EQ(kernel("/no/such/kernel.py").status, 3);
  auto answer = kernel(file, {"--task", "L1/002_gelo"});
  EXPECT_EQ(answer.status, 2);
  EXPECT_THAT(answer.err, HasSubstr("did you mean 'L1/002_gelu'?"));
  answer = kernel(file, {"--task", "L1/002_gelu", "--backend", "neuron"});
  EXPECT_EQ(answer.status, 4) << "no such compiler here";
  EXPECT_THAT(answer.err, HasSubstr("no Neuron virtual environment on this machine"));
  EXPECT_EQ(kernel(file, {}).status, 2);
}

TEST(KernelVerb, WhoKnowsTheSeedDoesNotKnowAllInputs) {
  const auto answer =
      kernel(NKIGRID_TEST_DATA "/device/hostile/knows_seed_1.py", {"--task", "L1/004_row_norm", "--seed", "1"});
  ASSERT_EQ(answer.status, 1) << answer.err;
  EXPECT_EQ(answer.data.at("outcome"), "mismatch");
  EXPECT_EQ(answer.data.at("verify").at("passed"), 4) << "the public draws are all answered";
}

}  // namespace
}  // namespace nkigrid
