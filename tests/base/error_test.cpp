#include "jobs/base/error.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>

namespace nkigrid {
namespace {

TEST(Error, ContextStandsInFrontOutermostFirst) {
  Error error(ErrorCode::io, "no space left on device");
  error.add_context("'a.journal'").add_context("while sealing");
  EXPECT_STREQ(error.what(), "while sealing: 'a.journal': no space left on device");
  EXPECT_EQ(error.code(), ErrorCode::io);
}

int number(ExitCode code) { return static_cast<int>(code); }

TEST(Error, ExitCodesAreTheContracts) {
  EXPECT_EQ(number(ExitCode::done), 0);
  EXPECT_EQ(number(ExitCode::incomplete), 1);
  EXPECT_EQ(number(exit_code(ErrorCode::usage)), 2);
  EXPECT_EQ(number(exit_code(ErrorCode::config)), 2);
  EXPECT_EQ(number(exit_code(ErrorCode::io)), 3);
  EXPECT_EQ(number(exit_code(ErrorCode::corrupt)), 3);
  EXPECT_EQ(number(exit_code(ErrorCode::external)), 4);
  EXPECT_EQ(number(exit_code(ErrorCode::timeout)), 4);
  EXPECT_EQ(number(exit_code(ErrorCode::internal)), 70);
  EXPECT_EQ(number(exit_code(ErrorCode::interrupted)), 130);
}

TEST(Error, OfTwoExitCodesTheOneThatNeedsSomebodyMostIsTold) {
  using enum ExitCode;
  constexpr std::array kWorstFirst = {internal, damaged, external, interrupted, usage, incomplete, done};
  for (std::size_t i = 0; i < kWorstFirst.size(); ++i) {
    for (std::size_t j = i; j < kWorstFirst.size(); ++j) {
      EXPECT_EQ(worse(kWorstFirst[i], kWorstFirst[j]), kWorstFirst[i]);
      EXPECT_EQ(worse(kWorstFirst[j], kWorstFirst[i]), kWorstFirst[i]);
    }
  }
}

TEST(Error, ALibrarysNamesOfItsFaultsAreLeftOut) {
  const Error error(ErrorCode::corrupt, "'a' ([json.exception.type_error.302] type must be number, but is null); mend");
  EXPECT_STREQ(error.what(), "'a' (type must be number, but is null); mend");
  EXPECT_STREQ(Error(ErrorCode::corrupt, "[json.exception.").what(), "[json.exception.");
}

TEST(Error, ErrnoBecomesCallObjectAndReason) {
  try {
    throw_errno(ENOENT, "open", "/x");
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot open '/x': No such file or directory");
    EXPECT_EQ(error.code(), ErrorCode::io);
  }
  try {
    throw_errno(ETIMEDOUT, "connect");
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot connect: Connection timed out");
    EXPECT_EQ(error.code(), ErrorCode::timeout);
  }
}

}  // namespace
}  // namespace nkigrid
