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
      EXPECT_NEAR(mcnemar(static_cast<std::uint64_t>(fewer + more), static_cast<std::uint64_t>(fewer), PValue::exact),
                  row["mcnemar_p"][static_cast<std::size_t>(end)].get<double>(), 1e-6)
          << row["name"];
    }
  }
}

TEST(McNemar, NothingDiscordantIsNoEvidence) { EXPECT_EQ(mcnemar(0, 0, PValue::mid), 1); }

// 1 against 7 of 21 children: exact 0.070, mid-p 0.039 (Fagerland, Lydersen & Laake 2013).
TEST(McNemar, MidPLeavesOutHalfOfTheOutcomeItself) {
  EXPECT_NEAR(mcnemar(1, 7, PValue::mid), 0.0390625, 1e-12);
  EXPECT_NEAR(mcnemar(7, 1, PValue::exact), 0.0703125, 1e-12);
  EXPECT_NEAR(mcnemar(5, 0, PValue::mid), 0.03125, 1e-12);
  // b = c: 1 - P(Bin(2b, 1/2) = b)/2, by the same paper; 70 of 256 outcomes at 4 against 4.
  EXPECT_NEAR(mcnemar(4, 4, PValue::mid), 1 - 70.0 / 256 / 2, 1e-12);
  EXPECT_NEAR(mcnemar(1, 1, PValue::mid), 0.75, 1e-12);
  EXPECT_EQ(mcnemar(4, 4, PValue::exact), 1);
}

// All 2^m sign patterns, one by one.
double sign_flip_by_enumeration(const std::vector<std::int64_t>& values, double share_of_ties) {
  std::int64_t observed = 0;
  for (const auto value : values) observed += value;
  double reached = 0;
  for (std::uint64_t pattern = 0; pattern < std::uint64_t{1} << values.size(); ++pattern) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += pattern >> i & 1 ? values[i] : -values[i];
    reached += std::abs(sum) > std::abs(observed) ? 1 : std::abs(sum) == std::abs(observed) ? share_of_ties : 0;
  }
  return reached / static_cast<double>(std::uint64_t{1} << values.size());
}

TEST(SignFlip, EqualsTheCountOverAllPatterns) {
  for (std::int64_t seed = 1; seed < 60; ++seed) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < 11; ++i) values.push_back((seed * (i + 3) * (i + 7) + seed) % 7 - 2);
    EXPECT_NEAR(sign_flip({3, {values}}, PValue::exact), sign_flip_by_enumeration(values, 1), 1e-14) << seed;
    EXPECT_NEAR(sign_flip({3, {values}}, PValue::mid), sign_flip_by_enumeration(values, 0.5), 1e-14) << seed;
  }
}

TEST(SignFlip, CountsHalfOfTheOutcomeWhereDifferencesCancel) {
  EXPECT_NEAR(sign_flip({3, {{2, -2}}}, PValue::mid), 0.75, 1e-14);
  EXPECT_EQ(sign_flip({3, {{2, -2}}}, PValue::exact), 1);
  EXPECT_NEAR(sign_flip({3, {{1, 2, -3}}}, PValue::mid), sign_flip_by_enumeration({1, 2, -3}, 0.5), 1e-14);
  const std::vector<std::int64_t> balanced{1, 1, 1, 1, -1, -1, -1, -1, 0};
  EXPECT_NEAR(sign_flip({1, {balanced}}, PValue::mid), mcnemar(4, 4, PValue::mid), 1e-14);
}

TEST(SignFlip, IsMcNemarForOneReplicate) {
  std::vector<std::int64_t> values(50, 0);
  std::fill_n(values.begin(), 13, 1);
  std::fill_n(values.begin() + 13, 4, -1);
  for (const auto kind : {PValue::mid, PValue::exact})
    EXPECT_NEAR(sign_flip({1, {values}}, kind), mcnemar(13, 4, kind), 1e-14);
}

TEST(SignFlip, NeverReachesZero) {
  EXPECT_DOUBLE_EQ(sign_flip({1, {std::vector<std::int64_t>(150, 1)}}, PValue::exact), std::ldexp(1.0, -149));
  EXPECT_DOUBLE_EQ(sign_flip({1, {std::vector<std::int64_t>(150, 1)}}, PValue::mid), std::ldexp(1.0, -150));
  EXPECT_EQ(sign_flip({1, {{0, 0, 0}}}, PValue::mid), 1);
}

}  // namespace
}  // namespace nkigrid::aggregate
