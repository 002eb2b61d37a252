#include "runner/device/check/compile_cache.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace nkigrid::device {
namespace {

CompileResult good(std::size_t bytes = 0) {
  CompileResult result;
  result.artifact = std::make_shared<const Artifact>(Artifact{std::string(bytes, 'x'), "kernel", "", 0});
  return result;
}

CompileResult bad(Code code) {
  CompileResult result;
  result.diagnostic.code = code;
  return result;
}

TEST(CompileCache, SecondAskIsNotCompiled) {
  CompileCache cache(1 << 20);
  int compiles = 0;
  const auto compile = [&] { return ++compiles, good(); };
  const auto first = cache.get("a", compile);
  EXPECT_EQ(cache.get("a", compile).artifact, first.artifact);
  EXPECT_NE(cache.get("b", compile).artifact, first.artifact);
  EXPECT_EQ(compiles, 2);
}

TEST(CompileCache, CompilerErrorsLastAndPassingTroubleDoesNot) {
  CompileCache cache(1 << 20);
  for (const auto& [code, lasts] :
       {std::pair{Code::partition_limit, true}, std::pair{Code::rule_violation, true}, std::pair{Code::infra, false},
        std::pair{Code::compile_timeout, false}, std::pair{Code::compiler_internal, false}}) {
    int compiles = 0;
    const auto compile = [&, code = code] { return ++compiles, bad(code); };
    const std::string key(to_string(code));
    cache.get(key, compile);
    cache.get(key, compile);
    EXPECT_EQ(compiles, lasts ? 1 : 2) << key;
  }
}

TEST(CompileCache, LanesThatAskTogetherCompileOnce) {
  CompileCache cache(1 << 20);
  std::atomic<int> compiles{0};
  std::latch all_here(4);
  std::vector<std::thread> lanes;
  for (int i = 0; i < 4; ++i) {
    lanes.emplace_back([&] {
      all_here.arrive_and_wait();
      cache.get("key", [&] { return ++compiles, good(); });
    });
  }
  for (auto& lane : lanes) lane.join();
  EXPECT_EQ(compiles, 1);
}

TEST(CompileCache, OldestIsDroppedWhenItsBytesAreTooMany) {
  CompileCache cache(2'500'000);
  int compiles = 0;
  const auto compile = [&] { return ++compiles, good(1'000'000); };
  for (const char* key : {"a", "b", "a", "c"}) cache.get(key, compile);
  EXPECT_EQ(compiles, 3);
  cache.get("a", compile);
  EXPECT_EQ(compiles, 3) << "a was used after b";
  cache.get("b", compile);
  EXPECT_EQ(compiles, 4);
}

TEST(CompileCache, LongMessagesCountToo) {
  CompileCache cache(1'500'000);
  int compiles = 0;
  const auto compile = [&] {
    auto result = bad(Code::rule_violation);
    result.diagnostic.message.assign(1'000'000, 'm');
    return ++compiles, result;
  };
  for (const char* key : {"a", "b", "a"}) cache.get(key, compile);
  EXPECT_EQ(compiles, 3) << "b's words pushed a out";
}

TEST(CompileCache, WhatAloneIsTooLargeIsGivenAndNotKept) {
  CompileCache cache(1000);
  int compiles = 0;
  const auto compile = [&] { return ++compiles, good(5000); };
  EXPECT_TRUE(cache.get("a", compile).ok());
  EXPECT_TRUE(cache.get("a", compile).ok());
  EXPECT_EQ(compiles, 2);
}

TEST(CompileCache, ExceptionLeavesNothingBehind) {
  CompileCache cache(1 << 20);
  EXPECT_THROW(cache.get("a", []() -> CompileResult { throw std::runtime_error("gone"); }), std::runtime_error);
  EXPECT_TRUE(cache.get("a", [] { return good(); }).ok());
}

}  // namespace
}  // namespace nkigrid::device
