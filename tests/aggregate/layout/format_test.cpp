#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aggregate/layout/format.hpp"
#include "jobs/base/error.hpp"

namespace nkigrid::aggregate {
namespace {

TEST(Names, UnknownFormatsAreRefusedWithTheListOfThoseThatExist) {
  try {
    parse_format("html");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("this version has: text, markdown, latex, csv, json"));
  }
}

}  // namespace
}  // namespace nkigrid::aggregate
