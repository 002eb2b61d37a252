#include "jobs/base/draws.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace nkigrid {
namespace {

using Block = std::array<std::uint32_t, 4>;

/// Philox4x32-10 written from the paper (Salmon et al., SC11, section 4.3), as a second opinion on the
/// library's.
Block philox(Block counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

TEST(Draws, TheSecondOpinionPassesTheKnownAnswers) {
  // Random123's tests/kat_vectors, the three lines "philox4x32 10".
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Draws, TheFirstDrawOfKeyZeroIsTheKnownAnswer) { EXPECT_EQ(Draws(0).bits(), 0xe169c58d6627e8d5ULL); }

TEST(Draws, DrawIIsAFunctionOfKeyAndIAlone) {
  for (const std::uint64_t key : {std::uint64_t{1}, std::uint64_t{0x299f31d0a4093822}, ~std::uint64_t{0}}) {
    Draws draws(key);
    for (std::uint32_t i = 0; i < 100; ++i) {
      const auto block = philox({i, 0, 0, 0}, {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)});
      EXPECT_EQ(draws.bits(), std::uint64_t{block[0]} | std::uint64_t{block[1]} << 32);
    }
  }
}

TEST(Draws, UniformsLieInTheHalfOpenUnitIntervalAndFillIt) {
  Draws draws(7);
  double sum = 0, least = 1, most = 0;
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    const double value = draws.uniform();
    least = std::min(least, value);
    most = std::max(most, value);
    sum += value;
  }
  EXPECT_GE(least, 0);
  EXPECT_LT(most, 1);
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * 0.2887 / 141.4);  // 5 standard errors; sd of a uniform is 1/sqrt(12)
}

TEST(Draws, BelowIsEvenOverItsRange) {
  Draws draws(9);
  std::vector<int> counts(3);
  for (int i = 0; i < 30'000; ++i) ++counts.at(draws.below(3));
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 5 * 82);  // sd of a binomial(30000, 1/3): 81.6
  EXPECT_EQ(draws.below(1), 0U);
  // A bound over half of the range rejects almost every second draw; a plain modulus would favour small
  // values two to one.
  const std::uint64_t bound = (std::uint64_t{1} << 63) + 1;
  int low = 0;
  for (int i = 0; i < 10'000; ++i) low += draws.below(bound) < bound / 2;
  EXPECT_NEAR(low, 5'000, 5 * 50);
}

}  // namespace
}  // namespace nkigrid
