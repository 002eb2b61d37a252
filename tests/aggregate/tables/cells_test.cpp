#include "aggregate/tables/cells.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aggregate/tables/ablation.hpp"
#include "aggregate/tables/warnings.hpp"
#include "jobs/base/error.hpp"
#include "tests/aggregate/made_run.hpp"

namespace nkigrid::aggregate {
namespace {

using test::ended, test::join, test::made_run, test::made_tasks, test::number_of;
using testing::Contains, testing::HasSubstr;

// L1: task i passes i % 3 + 1 of 3 replicates (capped); L2: task 0 only.
bool mixed(const EpisodeId& id) {
  const auto k = static_cast<int>(id.replicate);
  return id.task.starts_with("L1") ? k <= number_of(id) % 4 : number_of(id) == 0;
}

test::MadeRun mixed_run(const test::Verdict& verdict = [](const EpisodeId& id) { return ended(mixed(id)); }) {
  return made_run({"m.ss.p", "m.agent.p"}, join(made_tasks("L1", 12), made_tasks("L2", 8)), 3, verdict);
}

TEST(Tables, CountsComeFromThePlanAndTheCountedRows) {
  const auto made = mixed_run();
  const auto evidence = evidence_of(made.run, made.ledger);
  ASSERT_EQ(evidence.once(make_cells).size(), 2u);
  const auto& row = evidence.once(make_cells)[0];
  EXPECT_EQ(row.cell, "m.ss.p");
  EXPECT_EQ(row.total.tasks, 20u);
  EXPECT_EQ(row.total.replicates, 3u);
  EXPECT_EQ(row.total.episodes, 60u);
  EXPECT_EQ(row.total.passed, 18u + 3u);
  EXPECT_EQ(row.total.outstanding, 0u);
  EXPECT_DOUBLE_EQ(*row.total.rate, 21.0 / 60);
  EXPECT_FALSE(row.total.bounds);
  ASSERT_EQ(row.levels.size(), 2u);
  EXPECT_EQ(row.levels[0].name, "L1");
  EXPECT_EQ(row.levels[0].rate.passed, 18u);
  EXPECT_EQ(row.levels[1].rate.episodes, 24u);
  EXPECT_DOUBLE_EQ(*row.levels[1].rate.rate, 3.0 / 24);
}

TEST(Tables, CellSpansLevelsAsStrataAndALevelIsOneStratum) {
  const auto made = mixed_run();
  const auto evidence = evidence_of(made.run, made.ledger);
  std::vector<TaskCount> tasks;
  for (std::uint32_t i = 0; i < 12; ++i) tasks.push_back({i % 4, 3, 0});
  const auto level = rate_interval(tasks, 0.95);
  for (std::uint32_t i = 0; i < 8; ++i) tasks.push_back({i == 0 ? 3u : 0u, 3, 1});
  const auto cell = rate_interval(tasks, 0.95);
  EXPECT_EQ(cell.method, "wilson-eff");
  EXPECT_EQ(evidence.once(make_cells)[0].total.interval->method, "wilson-eff");
  EXPECT_DOUBLE_EQ(evidence.once(make_cells)[0].total.interval->low, cell.low);
  EXPECT_DOUBLE_EQ(evidence.once(make_cells)[0].total.interval->high, cell.high);
  EXPECT_DOUBLE_EQ(evidence.once(make_cells)[0].levels[0].rate.interval->low, level.low);
}

TEST(Tables, OutstandingEpisodesGiveBoundsAndNoRate) {
  const auto made = mixed_run([](const EpisodeId& id) -> std::optional<log::End> {
    if (id.cell == "m.agent.p" && id.task == "L2/001" && id.replicate > 1) return std::nullopt;
    return ended(mixed(id));
  });
  const auto evidence = evidence_of(made.run, made.ledger);
  EXPECT_EQ(evidence.outstanding, 2u);
  EXPECT_TRUE(evidence.once(make_cells)[0].total.rate);
  const auto& row = evidence.once(make_cells)[1];
  EXPECT_FALSE(row.total.rate);
  EXPECT_FALSE(row.total.interval);
  EXPECT_FALSE(row.total.run_to_run);
  ASSERT_TRUE(row.total.bounds);
  EXPECT_DOUBLE_EQ(row.total.bounds->low, 21.0 / 60);
  EXPECT_DOUBLE_EQ(row.total.bounds->high, 23.0 / 60);
  EXPECT_TRUE(row.levels[0].rate.rate);  // L1 is whole
  EXPECT_FALSE(row.levels[1].rate.rate);
  EXPECT_THAT(evidence.once(make_warnings), Contains(HasSubstr("2 planned episodes are outstanding")));
}

TEST(Tables, PartialRatesAreOverScoredEpisodesAndSaySo) {
  const auto made = mixed_run([](const EpisodeId& id) -> std::optional<log::End> {
    if (id.task == "L1/000" || (id.task == "L2/001" && id.replicate > 1)) return std::nullopt;
    return ended(mixed(id));
  });
  const auto evidence = evidence_of(made.run, made.ledger, {.partial = true});
  const auto& row = evidence.once(make_cells)[1].total;
  EXPECT_EQ(row.episodes, 60u);
  EXPECT_EQ(row.outstanding, 5u);
  EXPECT_DOUBLE_EQ(*row.rate, (18.0 + 3.0) / 3 / 19) << "the mean over tasks with any scored episode";
  for (const auto& other : evidence.once(make_ablation)) {
    EXPECT_TRUE(other.cell != "m.agent.p" || other.rate == row.rate) << "one estimator in all tables";
  }
  ASSERT_TRUE(row.interval);
  EXPECT_LE(row.interval->low, *row.rate);
  EXPECT_TRUE(row.bounds);
  EXPECT_THAT(evidence.once(make_warnings), Contains(HasSubstr("partial: 10 planned episodes are outstanding")));
}

TEST(Tables, PartialRowWithNothingScoredHasNoRate) {
  const auto made = mixed_run([](const EpisodeId&) { return std::nullopt; });
  const auto row = make_cells(evidence_of(made.run, made.ledger, {.partial = true}))[0].total;
  EXPECT_FALSE(row.rate);
  EXPECT_EQ(row.bounds->low, 0);
  EXPECT_EQ(row.bounds->high, 1);
}

TEST(Tables, RuleChoosesTheVerdictThatCounts) {
  const auto made = made_run({"m.ss.p"}, made_tasks("L1", 10), 1, [](const EpisodeId& id) {
    auto end = ended(number_of(id) < 4);
    end.strict_passed = number_of(id) < 3;
    end.best_passed = number_of(id) < 7;
    return end;
  });
  EXPECT_EQ(make_cells(evidence_of(made.run, made.ledger, {.rule = Rule::paper}))[0].total.passed, 4u);
  EXPECT_EQ(make_cells(evidence_of(made.run, made.ledger, {.rule = Rule::strict}))[0].total.passed, 3u);
  EXPECT_EQ(make_cells(evidence_of(made.run, made.ledger, {.rule = Rule::best}))[0].total.passed, 7u);
}

TEST(Tables, SubsetKeepsItsTasksAndNamesTheRow) {
  auto made = mixed_run();
  made.run.benchmark.subsets["few"] = {"L1/001", "L1/002", "L2/000"};
  made.run.benchmark.subsets["absent"] = {"L9/000"};
  const auto evidence = evidence_of(made.run, made.ledger, {.subset = "few"});
  EXPECT_EQ(evidence.once(make_cells)[0].subset, "few");
  EXPECT_EQ(evidence.once(make_cells)[0].total.episodes, 9u);
  EXPECT_EQ(evidence.once(make_cells)[0].total.passed, 1u + 2u + 3u);
  EXPECT_THROW(evidence_of(made.run, made.ledger, {.subset = "absent"}), Error);
  try {
    evidence_of(made.run, made.ledger, {.subset = "fwe"});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'few'?"));
  }
}

TEST(Tables, CategoriesAreRatesOfTheirTasks) {
  const auto made = mixed_run();
  const auto row = make_cells(evidence_of(made.run, made.ledger))[0];
  ASSERT_EQ(row.categories.size(), 2u);  // odd numbers are matmul, even ones unary
  EXPECT_EQ(row.categories[0].name, "matmul");
  EXPECT_EQ(row.categories[0].rate.episodes, 30u);
  EXPECT_EQ(row.categories[0].rate.passed, 3u * (1 + 3));
  EXPECT_EQ(row.categories[1].rate.passed, 3u * 2 + 3);
}

}  // namespace
}  // namespace nkigrid::aggregate
