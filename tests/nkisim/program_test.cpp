#include "runner/nkisim/program/parse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/base/draws.hpp"
#include "jobs/base/error.hpp"
#include "tests/nkisim/sample.hpp"
#include "tests/nkisim/write.hpp"

namespace nkigrid::nkisim {
namespace {

using make::sample_program;
using ::testing::HasSubstr;

std::string error_of(std::string_view bytes) {
  try {
    parse_program(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
    return error.what();
  }
  return "";
}

TEST(Program, WhatIsWrittenIsReadBackEqual) {
  const std::string bytes = to_bytes(sample_program());
  const Program again = parse_program(bytes);
  EXPECT_EQ(to_bytes(again), bytes);
  ASSERT_EQ(again.atoms.size(), 4u);
  EXPECT_EQ(again.atoms[3].kind, Atom::Kind::mod);
  EXPECT_EQ(again.atoms[3].operand.terms.at(0).coefficient, -7);
  EXPECT_EQ(again.buffers.at(2).data, std::string("\x01\x02\x03\x04", 4));
  const Loop& loop = std::get<Loop>(again.body.at(1).what);
  EXPECT_EQ(loop.start, -3);
  const Map& map = std::get<Map>(loop.body.at(0).what);
  ASSERT_TRUE(map.sources.at(0).access.dynamic);
  EXPECT_TRUE(map.sources.at(0).access.skip_out_of_bounds);
  EXPECT_EQ(map.steps.at(1).operands[1], 3u);
}

TEST(Program, BytesAreThoseOfTheFormatPage) {
  Program program;
  program.entry = "k";
  program.grid = {300};
  program.atoms.push_back({Atom::Kind::floor_div, 0, {-2, {}}, 5});
  const std::string expected("NKIPROG\0\x02\x01k\x00\x01\xac\x02\x01\x02\x03\x00\x05\x00\x00\x00\x00\x00", 25);
  EXPECT_EQ(to_bytes(program), expected);
}

TEST(Program, EveryTruncationIsRefused) {
  const std::string bytes = to_bytes(sample_program());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(error_of(std::string_view(bytes).substr(0, size)), HasSubstr("program is corrupt at byte")) << size;
  }
}

TEST(Program, EveryFlippedByteGivesAnErrorOrAnotherProgram) {
  const std::string bytes = to_bytes(sample_program());
  int refused = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int bits : {0xff, 0x01, 0x80}) {
      std::string forged = bytes;
      forged[at] = static_cast<char>(forged[at] ^ bits);
      try {
        EXPECT_EQ(to_bytes(parse_program(forged)), forged) << at;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::corrupt);
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, static_cast<int>(bytes.size()));
}

TEST(Program, TrailingBytesAreRefused) {
  EXPECT_THAT(error_of(to_bytes(sample_program()) + "x"), HasSubstr("bytes follow the end"));
}

TEST(Program, AnotherVersionIsRefused) {
  std::string bytes = to_bytes(sample_program());
  bytes[8] = 1;
  EXPECT_THAT(error_of(bytes), HasSubstr("version 1 (this program reads 2)"));
}

TEST(Program, PaddedAndOverlongIntegersAreRefused) {
  std::string head("NKIPROG\0", 8);
  EXPECT_THAT(error_of(head + std::string("\x81\x00", 2)), HasSubstr("shortest form"));
  EXPECT_THAT(error_of(head + std::string(9, '\xff') + "\x02"), HasSubstr("64 bits"));
  EXPECT_THAT(error_of(head + std::string(11, '\xff')), HasSubstr("64 bits"));
}

TEST(Program, CountsBeyondTheBytesAreRefusedBeforeAnythingIsReserved) {
  const std::string bytes("NKIPROG\0\x02\x00\x00\x00\xff\x1f", 14);
  EXPECT_THAT(error_of(bytes), HasSubstr("atom count 4095 is more than the bytes that are left"));
}

TEST(Program, NestingIsCapped) {
  Program program;
  Block* block = &program.body;
  for (int depth = 0; depth < 70; ++depth) {
    block->push_back({1, Loop{}});
    block = &std::get<Loop>(block->back().what).body;
  }
  EXPECT_THAT(error_of(to_bytes(program)), HasSubstr("nesting deeper than 64"));
}

TEST(Program, TooManyBytesAreRefused) {
  EXPECT_THAT(error_of(std::string(kMaxProgramBytes + 1, '\0')), HasSubstr("at most 8388608"));
}

/// `count` sums of a tile and a number, the numbers in turn from `different` ones.
std::size_t bytes_of_sums(int count, int different) {
  auto program = make::add_program(1, 4);
  auto& body = std::get<Loop>(program.body.back().what).body;
  const auto sum = std::get<Map>(body[body.size() - 2].what);
  for (int k = 0; k < count; ++k) {
    auto next = sum;
    next.sources[1] = make::value(0.5 + k % different);
    body.push_back({5, std::move(next)});
  }
  return constant_bytes(program);
}

TEST(Program, NumbersInItsInstructionsCountAsConstantsOnceEach) {
  EXPECT_EQ(bytes_of_sums(20'000, 20'000), 80'000U) << "answers written down as immediates";
  EXPECT_EQ(bytes_of_sums(20'000, 3), 0U) << "an unrolled loop";
  EXPECT_EQ(bytes_of_sums(256, 256), 0U) << "coefficients";
}

}  // namespace
}  // namespace nkigrid::nkisim
