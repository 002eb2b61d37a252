#include <gtest/gtest.h>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "aggregate/statistics/paired.hpp"

namespace nkigrid::aggregate {
namespace {

TEST(McNemar, MeetsTheReferenceAtBothEndsOfThePairing) {
  std::ifstream file(NKIGRID_TEST_DATA "/aggregate/reference_intervals.json");
  const auto reference = nlohmann::json::parse(file);
  for (const auto& row : reference["differences"]) {
    const int more = std::abs(row["a"][0].get<int>() - row["b"][0].get<int>());
    for (const int end : {0, 1}) {
      const int discordant = row["discordant"][static_cast<std::size_t>(end)], fewer = (discordant - more) / 2;
      // The least discordance has the smaller p.
      EXPECT_NEAR(mcnemar_exact(static_cast<std::uint64_t>(fewer + more), static_cast<std::uint64_t>(fewer)),
                  row["mcnemar_p"][static_cast<std::size_t>(end)].get<double>(), 1e-6)
          << row["name"];
    }
  }
}

TEST(McNemar, NothingDiscordantIsNoEvidence) { EXPECT_EQ(mcnemar_exact(0, 0), 1); }

// All 2^m sign patterns, one by one.
double sign_flip_by_enumeration(const std::vector<std::int64_t>& values) {
  std::int64_t observed = 0;
  for (const auto value : values) observed += value;
  std::uint64_t reached = 0;
  for (std::uint64_t pattern = 0; pattern < std::uint64_t{1} << values.size(); ++pattern) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += pattern >> i & 1 ? values[i] : -values[i];
    reached += std::abs(sum) >= std::abs(observed);
  }
  return static_cast<double>(reached) / static_cast<double>(std::uint64_t{1} << values.size());
}

TEST(SignFlip, EqualsTheCountOverAllPatterns) {
  for (std::int64_t seed = 1; seed < 60; ++seed) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < 11; ++i) values.push_back((seed * (i + 3) * (i + 7) + seed) % 7 - 2);
    EXPECT_NEAR(sign_flip({3, {values}}), sign_flip_by_enumeration(values), 1e-14) << seed;
  }
}

TEST(SignFlip, IsMcNemarForOneReplicate) {
  std::vector<std::int64_t> values(50, 0);
  std::fill_n(values.begin(), 13, 1);
  std::fill_n(values.begin() + 13, 4, -1);
  EXPECT_NEAR(sign_flip({1, {values}}), mcnemar_exact(13, 4), 1e-14);
}

TEST(SignFlip, NeverReachesZero) {
  EXPECT_DOUBLE_EQ(sign_flip({1, {std::vector<std::int64_t>(150, 1)}}), std::ldexp(1.0, -149));
  EXPECT_EQ(sign_flip({1, {{0, 0, 0}}}), 1);
}

}  // namespace
}  // namespace nkigrid::aggregate
