#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "aggregate/statistics/paired.hpp"
#include "aggregate/tables/ablation.hpp"
#include "aggregate/tables/cells.hpp"
#include "aggregate/tables/claims.hpp"
#include "aggregate/tables/interactions.hpp"
#include "aggregate/tables/pairs.hpp"
#include "aggregate/tables/warnings.hpp"
#include "jobs/base/error.hpp"
#include "tests/aggregate/made_evidence.hpp"

namespace nkigrid::aggregate {
namespace {

using testing::Contains, testing::HasSubstr, testing::Not;

const PrintedCounts& paper_counts() {
  static const auto counts = read_counts(NKIGRID_SOURCE_DIR "/configs/paper-counts.yaml");
  return counts;
}

const Evidence& paper() {
  static const auto evidence = evidence_of(paper_counts());
  return evidence;
}

TEST(Counts, EveryPercentageOfThePaperIsReproduced) {
  ASSERT_EQ(paper().once(make_cells).size(), 19u);
  for (const auto& row : paper().once(make_cells)) {
    EXPECT_FALSE(row.printed.empty()) << row.cell;
    EXPECT_TRUE(row.printed_fits) << row.cell << ' ' << row.subset;
  }
  EXPECT_THAT(paper().once(make_warnings), Not(Contains(HasSubstr("prints"))));
}

TEST(Counts, TheSlipsOfThePaperAreMarked) {
  EXPECT_THAT(paper().once(make_warnings),
              Contains("Table 4: SFT SS relative to SFT v2 SS is printed as 81, but the counts say 80.00"));
  EXPECT_THAT(paper().once(make_warnings),
              Contains("Section 4.4: SFT NKIAgent as a share of Opus 4.8 NKIAgent is 40 on "
                       "nkigen-60, but 26.72 on nkigen-150"));
  EXPECT_THAT(paper().once(make_warnings),
              Contains(HasSubstr("Opus 4.8 SS: 0/60 on nkigen-60 and 9/150 on nkigen-150 disagree")));
  EXPECT_THAT(paper().once(make_warnings),
              Contains(HasSubstr("Opus 4.8 NKIAgent: 38/60 on nkigen-60 and 116/150 on nkigen-150 disagree")));
}

Range bounds_of(std::uint64_t a, std::uint64_t b, std::uint64_t n) {
  const PrintedCounts counts{"one",
                             {{"a", "a", "m", "", "s", n, a, {}, ""}, {"b", "b", "m", "", "s", n, b, {}, ""}},
                             {{"here", "difference", "a", "b", "all", "0"}}};
  return *make_pairs(evidence_of(counts)).back().p_bounds;
}

TEST(Counts, BoundsAreThoseOfEveryPairing) {
  for (std::uint64_t n = 1; n <= 14; ++n) {
    for (std::uint64_t a = 0; a <= n; ++a) {
      for (std::uint64_t b = 0; b <= n; ++b) {
        Range want{1, 0};
        for (std::uint64_t both = a + b > n ? a + b - n : 0; both <= std::min(a, b); ++both) {
          const double p = mcnemar(a - both, b - both, PValue::exact);
          want = {std::min(want.low, p), std::max(want.high, p)};
        }
        const auto got = bounds_of(a, b, n);
        EXPECT_NEAR(got.low, want.low, 1e-12) << a << ' ' << b << ' ' << n;
        EXPECT_NEAR(got.high, want.high, 1e-12) << a << ' ' << b << ' ' << n;
      }
    }
  }
}

TEST(Counts, TenMillionTasksAreNoLongWork) {
  const auto bounds = bounds_of(5'001'000, 5'000'000, 10'000'000);
  EXPECT_LT(bounds.low, 1e-100);
  // The normal tail with continuity: (1000 - 1) / sqrt(9,999,000) = 0.31593; scipy: 2 norm.sf = 0.75206.
  EXPECT_NEAR(bounds.high, 0.75206, 1e-4);
}

TEST(Counts, BoundsAndVerdictsMeetTheReference) {
  std::ifstream file(NKIGRID_TEST_DATA "/aggregate/reference_intervals.json");
  const auto reference = nlohmann::json::parse(file);
  const std::map<std::string, std::string> words{{"significant whatever the pairing", "always-significant"},
                                                 {"never significant, whatever the pairing", "never-significant"},
                                                 {"depends on per-task outcomes", "depends-on-pairing"}};
  for (const auto& row : reference["differences"]) {
    PrintedCounts counts{"one",
                         {{"a", "a", "m", "", "s", row["a"][1], row["a"][0], {}, ""},
                          {"b", "b", "m", "", "s", row["b"][1], row["b"][0], {}, ""}},
                         {{"here", "difference", "a", "b", "all", "0"}}};
    const auto pairs = make_pairs(evidence_of(counts));
    ASSERT_EQ(pairs.size(), 1U) << "the contrast of models and the claim are one comparison";
    const auto& pair = pairs.front();
    EXPECT_EQ(pair.verdict, words.at(row["verdict"])) << row["name"];
    EXPECT_NEAR(pair.p_bounds->low, row["mcnemar_p"][0].get<double>(), 1e-6) << row["name"];
    EXPECT_NEAR(pair.p_bounds->high, row["mcnemar_p"][1].get<double>(), 1e-6) << row["name"];
    const double low = pair.a == "a" ? pair.interval->low : -pair.interval->high;
    EXPECT_NEAR(low, row["newcombe"][0].get<double>(), 1e-6) << row["name"];
  }
}

const AblationRow& ablation_row(const Evidence& evidence, const std::string& value, const std::string& context,
                                const std::string& subset) {
  for (const auto& row : evidence.once(make_ablation)) {
    if (row.value == value && row.context == context && row.subset == subset) return row;
  }
  throw std::runtime_error("no such row");
}

TEST(Counts, AblationAgainstOneVersionIsTable4) {
  const auto evidence = evidence_of(paper_counts(), 0.95, "sft-v2");
  const auto& row = ablation_row(evidence, "sft", "ss", "nkigen-60");
  EXPECT_EQ(row.baseline, "sft-v2");
  EXPECT_NEAR(*row.relative.change, 0.80, 1e-12);  // the paper prints +81 %
  EXPECT_EQ(row.interval->method, "newcombe");
  EXPECT_FALSE(ablation_row(evidence, "sft-v2", "ss", "nkigen-60").difference);
  EXPECT_EQ(ablation_row(evidence, "sft", "ss", "nkigen-150").baseline, "base");  // v2 was not run on the 150
}

TEST(Counts, AblationAgainstSftIsTable5) {
  const auto evidence = evidence_of(paper_counts(), 0.95, "sft");
  const auto percent = [&](const char* mode, const char* subset) {
    return std::round(100 * *ablation_row(evidence, "grpo", mode, subset).relative.change);
  };
  EXPECT_EQ(percent("ss", "nkigen-60"), -11);
  EXPECT_EQ(percent("agent", "nkigen-60"), -33);
  EXPECT_EQ(percent("ss", "nkigen-150"), -21);
  EXPECT_EQ(percent("agent", "nkigen-150"), -16);
}

TEST(Counts, SftAndToolsAreNotSeenToHelpEachOther) {
  // The paper calls 10.0, 15.0, 16.7 and 25.0 % of 60 super-additive: 15 - 9 - 10 + 6 = 2 tasks.
  bool seen = false;
  for (const auto& row : paper().once(make_interactions)) {
    if (row.first != "model: base -> sft" || row.second != "mode: ss -> agent" || row.context != "nkigen-60") continue;
    seen = true;
    EXPECT_NEAR(*row.difference, 2.0 / 60, 1e-12);
    EXPECT_LT(row.interval->low, 0);
    EXPECT_GT(row.interval->high, 0);
    EXPECT_EQ(row.verdict, "not-separated");
    EXPECT_FALSE(row.p);
  }
  EXPECT_TRUE(seen);
}

TEST(Counts, ThePapersTablesExistInEveryFormat) {
  for (const std::string name : {"modes", "levels", "cells", "ablation"}) {
    for (const auto format : {Format::text, Format::markdown, Format::latex, Format::csv})
      EXPECT_THAT(test::printed(paper(), {name}, format),
                  HasSubstr(name == "cells" || name == "levels" ? "SFT" : "sft"));
  }
  EXPECT_THAT(test::printed(paper(), {"modes"}, Format::markdown),
              HasSubstr("| 31/150 | 20.7 | [15.0, 27.8] wilson |"));
  const auto document = nlohmann::json::parse(test::printed(paper(), {"all"}, Format::json));
  EXPECT_EQ(document["modes"][0]["agent_passed"], 30);
  EXPECT_EQ(document["ablation"].size(), paper().once(make_ablation).size());
}

TEST(Counts, HolmHasBoundsTooAndTheVerdictGoesByThem) {
  std::map<std::string, std::size_t> sizes;
  std::map<std::string, double> least;
  for (const auto& row : paper().once(make_pairs)) {
    EXPECT_LE(row.p_bounds->low, row.p_holm_bounds->low);
    EXPECT_LE(row.p_bounds->high, row.p_holm_bounds->high);
    EXPECT_LE(row.p_holm_bounds->low, row.p_holm_bounds->high);
    EXPECT_EQ(row.verdict == "always-significant", row.p_holm_bounds->high <= 0.05) << row.a << row.b << row.scope;
    EXPECT_EQ(row.verdict == "never-significant", row.p_holm_bounds->low > 0.05) << row.a << row.b << row.scope;
    const auto known = least.emplace(row.family, 1).first;
    known->second = std::min(known->second, row.p_bounds->low);
    ++sizes[row.family];
  }
  EXPECT_EQ(sizes.size(), 2u);
  for (const auto& row : paper().once(make_pairs)) {
    EXPECT_EQ(row.family, row.scope.starts_with("L") ? "by-level" : "contrasts");
    if (row.p_bounds->low > least[row.family]) continue;
    EXPECT_NEAR(row.p_holm_bounds->low, static_cast<double>(sizes[row.family]) * row.p_bounds->low,
                1e-12 * row.p_bounds->low)
        << "the first of all";
  }
}

TEST(Counts, AClaimOfALevelDeclaresIt) {
  const PrintedCounts counts{"one",
                             {{"a", "a", "m", "", "s", 20, 9, {{"L1", {6, 10, ""}}, {"L2", {3, 10, ""}}}, ""},
                              {"b", "b", "m", "", "s", 20, 5, {{"L1", {1, 10, ""}}, {"L2", {4, 10, ""}}}, ""}},
                             {{"here", "difference", "b", "a", "L1", "-50"}}};
  const auto evidence = evidence_of(counts);
  std::map<std::string, std::string> families;
  for (const auto& row : evidence.once(make_pairs)) families[row.scope] = row.family;
  EXPECT_EQ(families,
            (std::map<std::string, std::string>{{"all", "contrasts"}, {"L1", "contrasts"}, {"L2", "by-level"}}));
}

TEST(Counts, SftAgainstSonnetHasARow) {
  bool seen = false;
  for (const auto& row : paper().once(make_pairs)) {
    if (row.a != "SFT NKIAgent" || row.b != "Sonnet NKIAgent") continue;
    seen = true;
    EXPECT_NEAR(*row.difference, 0.1, 1e-12);
    // scipy: binomtest(0, 6) = 0.03125; binomtest(9, 24) = 0.307456.
    EXPECT_NEAR(row.p_bounds->low, 0.03125, 1e-9);
    EXPECT_NEAR(row.p_bounds->high, 0.307456, 1e-6);
    EXPECT_EQ(row.verdict, "never-significant") << "adjusted for what else the paper compares";
  }
  EXPECT_TRUE(seen);
}

TEST(Counts, OneSubsetKeepsItsCellsAndClaims) {
  const auto counts = only_subset(paper_counts(), "nkigen-150");
  EXPECT_EQ(counts.cells.size(), 8u);
  for (const auto& cell : counts.cells) EXPECT_EQ(cell.subset, "nkigen-150");
  EXPECT_EQ(counts.claims.size(), 2u);
  EXPECT_THAT(evidence_of(counts).once(make_warnings), Not(Contains(HasSubstr("cannot be checked"))));
  try {
    only_subset(paper_counts(), "nkigen-15");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no printed cell is of subset 'nkigen-15' (did you mean 'nkigen-150'?)"));
  }
}

TEST(Counts, ClaimsCarryTheirIntervals) {
  for (const auto& row : paper().once(check_claims).rows) {
    ASSERT_TRUE(row.interval) << row.where;
    EXPECT_EQ(row.interval->method, row.kind == "difference" ? "newcombe" : "mover-r");
    EXPECT_LE(row.interval->low, row.value);
    EXPECT_GE(row.interval->high, row.value);
  }
}

TEST(Counts, EveryFormatPrintsThem) {
  const auto document = nlohmann::json::parse(test::printed(paper(), {}, Format::json));
  EXPECT_EQ(document["cells"].size(), 19u);
  EXPECT_TRUE(document["cells"][0]["printed_fits"]);
  EXPECT_EQ(document["claims"].size(), paper().once(check_claims).rows.size());
  const auto text = test::printed(paper(), {"all"}, Format::text);
  EXPECT_THAT(text, HasSubstr("29/150  19.3  [13.8, 26.4] wilson     19.3\n"));
  EXPECT_THAT(text, HasSubstr("depends-on-pairing"));
  EXPECT_THAT(test::printed(paper(), {"claims"}, Format::csv),
              HasSubstr("Table 4,relative,SFT SS,SFT v2 SS,nkigen-60,all,81,0.8,0,mover-r,-0.335353,3.858935\n"));
}

}  // namespace
}  // namespace nkigrid::aggregate
