#include "aggregate/tables/counts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "aggregate/layout/render.hpp"
#include "aggregate/statistics/paired.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"

namespace nkigrid::aggregate {
namespace {

using testing::Contains, testing::HasSubstr, testing::Not;

const Tables& paper() {
  static const auto tables = make_count_tables(read_counts(NKIGRID_SOURCE_DIR "/configs/paper-counts.yaml"));
  return tables;
}

TEST(Counts, EveryPercentageOfThePaperIsReproduced) {
  ASSERT_EQ(paper().cells.size(), 19u);
  for (const auto& row : paper().cells) {
    EXPECT_FALSE(row.printed.empty()) << row.cell;
    EXPECT_TRUE(row.printed_fits) << row.cell << ' ' << row.subset;
  }
  EXPECT_THAT(paper().warnings, Not(Contains(HasSubstr("prints"))));
}

TEST(Counts, TheSlipsOfThePaperAreMarked) {
  EXPECT_THAT(paper().warnings,
              Contains("Table 4: SFT SS relative to SFT v2 SS is printed as 81, but the counts say 80.00"));
  EXPECT_THAT(paper().warnings, Contains("Section 4.4: SFT NKIAgent as a share of Opus 4.8 NKIAgent is 40 on "
                                         "nkigen-60, but 26.72 on nkigen-150"));
  EXPECT_THAT(paper().warnings, Contains(HasSubstr("Opus 4.8 SS: 0/60 on nkigen-60 and 9/150 on nkigen-150 disagree")));
  EXPECT_THAT(paper().warnings,
              Contains(HasSubstr("Opus 4.8 NKIAgent: 38/60 on nkigen-60 and 116/150 on nkigen-150 disagree")));
}

Range bounds_of(std::uint64_t a, std::uint64_t b, std::uint64_t n) {
  const Counts counts{"one",
                      {{"a", "a", "m", "", "s", n, a, {}, ""}, {"b", "b", "m", "", "s", n, b, {}, ""}},
                      {{"here", "difference", "a", "b", "all", "0"}}};
  return *make_count_tables(counts).pairs.back().p_bounds;
}

TEST(Counts, BoundsAreThoseOfEveryPairing) {
  for (std::uint64_t n = 1; n <= 14; ++n) {
    for (std::uint64_t a = 0; a <= n; ++a) {
      for (std::uint64_t b = 0; b <= n; ++b) {
        Range want{1, 0};
        for (std::uint64_t both = a + b > n ? a + b - n : 0; both <= std::min(a, b); ++both) {
          const double p = mcnemar_exact(a - both, b - both);
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
    Counts counts{"one",
                  {{"a", "a", "m", "", "s", row["a"][1], row["a"][0], {}, ""},
                   {"b", "b", "m", "", "s", row["b"][1], row["b"][0], {}, ""}},
                  {{"here", "difference", "a", "b", "all", "0"}}};
    const auto tables = make_count_tables(counts);
    const auto& pair = tables.pairs.back();
    ASSERT_EQ(pair.a, "a");
    EXPECT_EQ(pair.verdict, words.at(row["verdict"])) << row["name"];
    EXPECT_NEAR(pair.p_bounds->low, row["mcnemar_p"][0].get<double>(), 1e-6) << row["name"];
    EXPECT_NEAR(pair.p_bounds->high, row["mcnemar_p"][1].get<double>(), 1e-6) << row["name"];
    EXPECT_NEAR(pair.interval->low, row["newcombe"][0].get<double>(), 1e-6) << row["name"];
  }
}

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

const AblationRow& ablation_row(const Tables& tables, const std::string& value, const std::string& context,
                                const std::string& subset) {
  for (const auto& row : tables.ablation) {
    if (row.value == value && row.context == context && row.subset == subset) return row;
  }
  throw std::runtime_error("no such row");
}

TEST(Counts, AblationAgainstOneVersionIsTable4) {
  const auto tables = make_count_tables(read_counts(NKIGRID_SOURCE_DIR "/configs/paper-counts.yaml"), 0.95, "sft-v2");
  const auto& row = ablation_row(tables, "sft", "ss", "nkigen-60");
  EXPECT_EQ(row.baseline, "sft-v2");
  EXPECT_NEAR(*row.relative, 0.80, 1e-12);  // the paper prints +81 %
  EXPECT_EQ(row.interval->method, "newcombe");
  EXPECT_FALSE(ablation_row(tables, "sft-v2", "ss", "nkigen-60").difference);
  EXPECT_EQ(ablation_row(tables, "sft", "ss", "nkigen-150").baseline, "base");  // v2 was not run on the 150
}

TEST(Counts, AblationAgainstSftIsTable5) {
  const auto tables = make_count_tables(read_counts(NKIGRID_SOURCE_DIR "/configs/paper-counts.yaml"), 0.95, "sft");
  const auto percent = [&](const char* mode, const char* subset) {
    return std::round(100 * *ablation_row(tables, "grpo", mode, subset).relative);
  };
  EXPECT_EQ(percent("ss", "nkigen-60"), -11);
  EXPECT_EQ(percent("agent", "nkigen-60"), -33);
  EXPECT_EQ(percent("ss", "nkigen-150"), -21);
  EXPECT_EQ(percent("agent", "nkigen-150"), -16);
}

TEST(Counts, SftAndToolsAreNotSeenToHelpEachOther) {
  // The paper calls 10.0, 15.0, 16.7 and 25.0 % of 60 super-additive: 15 - 9 - 10 + 6 = 2 tasks.
  bool seen = false;
  for (const auto& row : paper().interactions) {
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
  for (const auto name : {TableName::modes, TableName::levels, TableName::cells, TableName::ablation}) {
    for (const auto format : {Format::text, Format::markdown, Format::latex, Format::csv})
      EXPECT_THAT(render(paper(), {name}, format),
                  HasSubstr(name == TableName::cells || name == TableName::levels ? "SFT" : "sft"));
  }
  EXPECT_THAT(render(paper(), {TableName::modes}, Format::markdown),
              HasSubstr("| 31/150 | 20.7 | [15.0, 27.8] wilson |"));
  const auto document = nlohmann::json::parse(render(paper(), parse_table_name("all", Source::counts), Format::json));
  EXPECT_EQ(document["modes"][0]["agent_passed"], 30);
  EXPECT_EQ(document["ablation"].size(), paper().ablation.size());
}

TEST(Counts, HolmHasBoundsToo) {
  double least = 1;
  for (const auto& row : paper().pairs) {
    EXPECT_LE(row.p_bounds->low, row.p_holm_bounds->low);
    EXPECT_LE(row.p_bounds->high, row.p_holm_bounds->high);
    EXPECT_LE(row.p_holm_bounds->low, row.p_holm_bounds->high);
    least = std::min(least, row.p_bounds->low);
  }
  const auto n = static_cast<double>(paper().pairs.size());
  for (const auto& row : paper().pairs) {
    if (row.p_bounds->low > least) continue;
    EXPECT_NEAR(row.p_holm_bounds->low, n * least, 1e-12 * least) << "the first of all";
  }
}

TEST(Counts, ClaimsCarryTheirIntervals) {
  for (const auto& row : paper().claims) {
    ASSERT_TRUE(row.interval) << row.where;
    EXPECT_EQ(row.interval->method, row.kind == "difference" ? "newcombe" : "mover-r");
    EXPECT_LE(row.interval->low, row.value);
    EXPECT_GE(row.interval->high, row.value);
  }
}

TEST(Counts, EveryFormatPrintsThem) {
  const auto document = nlohmann::json::parse(render(paper(), {}, Format::json));
  EXPECT_EQ(document["cells"].size(), 19u);
  EXPECT_TRUE(document["cells"][0]["printed_fits"]);
  EXPECT_EQ(document["claims"].size(), paper().claims.size());
  const auto text = render(paper(), parse_table_name("all", Source::counts), Format::text);
  EXPECT_THAT(text, HasSubstr("29/150  19.3  [13.8, 26.4] wilson     19.3\n"));
  EXPECT_THAT(text, HasSubstr("depends-on-pairing"));
  EXPECT_THAT(render(paper(), {TableName::claims}, Format::csv),
              HasSubstr("Table 4,relative,SFT SS,SFT v2 SS,nkigen-60,all,81,0.8,0,mover-r,-0.335353,3.858935\n"));
}

}  // namespace
}  // namespace nkigrid::aggregate
