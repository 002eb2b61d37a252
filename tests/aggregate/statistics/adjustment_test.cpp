#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "aggregate/statistics/adjustment.hpp"
#include "aggregate/statistics/fisher.hpp"
#include "aggregate/statistics/paired.hpp"

namespace nkigrid::aggregate {
namespace {

using testing::DoubleNear, testing::ElementsAre;

/// The comparisons that the paper's counts invite, 18 of them with adjusted p values made elsewhere.
const nlohmann::json& family() {
  static const auto rows = [] {
    std::ifstream file(NKIGRID_TEST_DATA "/aggregate/reference_family.json");
    return nlohmann::json::parse(file)["rows"];
  }();
  return rows;
}

// The reference rounded its p values before it adjusted them.
double six_decimals(double p) { return std::nearbyint(p * 1e6) / 1e6; }

std::vector<double> fisher_p() {
  std::vector<double> p;
  for (const auto& row : family()) p.push_back(row["fisher_p"]);
  return p;
}

// Of two counts on the same tasks the least p: as few discordant tasks as can be.
std::vector<double> least_mcnemar_p() {
  std::vector<double> p;
  for (const auto& row : family()) {
    const auto more = std::abs(row["passed"][0].get<int>() - row["passed"][1].get<int>());
    p.push_back(six_decimals(mcnemar(static_cast<std::uint64_t>(more), 0, PValue::exact)));
  }
  return p;
}

// Holds one adjustment against the 18 printed values. @returns how many there were
int meets_the_printed(const std::vector<double>& adjusted, const char* key) {
  int printed = 0;
  for (std::size_t i = 0; i < family().size(); ++i) {
    const auto& row = family()[i];
    if (!row.contains("printed")) continue;
    EXPECT_NEAR(adjusted[i], row["printed"][key].get<double>(), 1e-6) << row["printed"]["name"];
    ++printed;
  }
  return printed;
}

TEST(Fisher, MeetsTheReference) {
  for (const auto& row : family())
    EXPECT_NEAR(fisher_exact(row["passed"][0], row["n"], row["passed"][1], row["n"]), row["fisher_p"].get<double>(),
                1e-6)
        << row["a"] << " and " << row["b"];
}

TEST(Family, HolmOfFishersTestsMeetsTheReference) {
  EXPECT_EQ(meets_the_printed(holm(fisher_p(), family().size()), "fisher_holm"), 18);
}

TEST(Family, BenjaminiHochbergOfFishersTestsMeetsTheReference) {
  EXPECT_EQ(meets_the_printed(benjamini_hochberg(fisher_p(), family().size()), "fisher_bh"), 18);
}

TEST(Family, LeastMcNemarAndItsHolmMeetTheReference) {
  EXPECT_EQ(meets_the_printed(least_mcnemar_p(), "mcnemar_min"), 18);
  EXPECT_EQ(meets_the_printed(holm(least_mcnemar_p(), family().size()), "mcnemar_min_holm"), 18);
}

TEST(Family, OneComparisonLessIsAnotherFamily) {
  auto p = fisher_p();
  p.pop_back();
  const auto adjusted = holm(p, p.size());
  double worst = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const auto& row = family()[i];
    if (row.contains("printed"))
      worst = std::max(worst, std::abs(adjusted[i] - row["printed"]["fisher_holm"].get<double>()));
  }
  EXPECT_GT(worst, 1e-3) << "the reference would fit any family";
}

TEST(Holm, StepsDownAndKeepsTheOrderOfItsInput) {
  // As R: p.adjust(c(.04, .01, .03, .02), "holm") = .06 .04 .06 .06
  EXPECT_THAT(
      holm(std::vector<double>{0.04, 0.01, 0.03, 0.02}, 4),
      ElementsAre(DoubleNear(0.06, 1e-15), DoubleNear(0.04, 1e-15), DoubleNear(0.06, 1e-15), DoubleNear(0.06, 1e-15)));
  EXPECT_THAT(holm(std::vector<double>{0.4, 0.5}, 2), ElementsAre(0.8, 0.8));
  EXPECT_THAT(holm(std::vector<double>{0.01}, 3), ElementsAre(DoubleNear(0.03, 1e-15)));
}

TEST(BenjaminiHochberg, StepsUpAndKeepsTheOrderOfItsInput) {
  // p.adjust(c(.04, .01, .03, .02, .5), "BH") = .05 .05 .05 .05 .5
  EXPECT_THAT(
      benjamini_hochberg(std::vector<double>{0.04, 0.01, 0.03, 0.02, 0.5}, 5),
      ElementsAre(testing::DoubleNear(0.05, 1e-15), testing::DoubleNear(0.05, 1e-15), testing::DoubleNear(0.05, 1e-15),
                  testing::DoubleNear(0.05, 1e-15), testing::DoubleNear(0.5, 1e-15)));
}

}  // namespace
}  // namespace nkigrid::aggregate
