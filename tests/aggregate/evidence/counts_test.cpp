#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aggregate/evidence/counts.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"

namespace nkigrid::aggregate {
namespace {

using testing::HasSubstr;

TEST(Counts, PrintedNumbersFitAtTheirOwnPrecision) {
  EXPECT_TRUE(printed_fits("19.3", 19.3333));
  EXPECT_FALSE(printed_fits("19.4", 19.3333));
  EXPECT_TRUE(printed_fits("39", 39.47));
  EXPECT_FALSE(printed_fits("40", 39.47));  // 39.5 rounded again
  EXPECT_TRUE(printed_fits("-11", -11.11));
  EXPECT_TRUE(printed_fits("8", 7.5));
  EXPECT_FALSE(printed_fits("81", 80.0));
}

TEST(Counts, ReportsEveryProblemWithItsPlace) {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "counts.yaml";
  write_file_atomic(file,
                    "cells:\n"
                    "  - {cell: A, n: 10, passed: 11}\n"
                    "  - {cell: B, n: 10, passed: 3, levels: {L1: [1, 5], L2: [1, 5]}, colour: red}\n"
                    "claims:\n"
                    "  - {where: X, kind: ratio, a: A, b: B, printed: 3}\n");
  try {
    read_counts(file);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::config);
    EXPECT_THAT(error.what(), HasSubstr("counts.yaml:2:"));
    EXPECT_THAT(error.what(), HasSubstr("the levels add up to 2/10, the cell says 3/10"));
    EXPECT_THAT(error.what(), HasSubstr("colour"));
    EXPECT_THAT(error.what(), HasSubstr("ratio"));
  }
}

TEST(Counts, ClaimsOfUnknownCellsAreRefused) {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "counts.yaml";
  write_file_atomic(file,
                    "cells:\n  - {cell: A, n: 10, passed: 1}\nclaims:\n  - {where: X, kind: share, a: A, b: "
                    "C, printed: 3}\n");
  EXPECT_THROW(read_counts(file), Error);
}

}  // namespace
}  // namespace nkigrid::aggregate
