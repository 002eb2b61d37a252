#include "aggregate/evidence/population.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aggregate/tables/cells.hpp"
#include "aggregate/tables/pairs.hpp"
#include "aggregate/tables/warnings.hpp"
#include "jobs/base/error.hpp"
#include "tests/aggregate/made_run.hpp"

namespace nkigrid::aggregate {
namespace {

using test::ended, test::made_run, test::made_tasks, test::number_of;
using testing::Contains, testing::ElementsAre, testing::HasSubstr, testing::IsEmpty;

ReadRun made_source(const std::string& name, std::uint64_t seed, const test::Verdict& verdict,
                    const std::vector<std::string>& cells = {"m.ss.p", "m.agent.p"}, int tasks = 10) {
  auto made = made_run(cells, made_tasks("L1", tasks), 2, verdict);
  made.run.grid.name = name;
  made.run.grid.seed = seed;
  made.run.run_id = fmt::format("run of seed {}", seed);
  made.run.folder = "/runs/" + name;
  made.run.grid.contrasts = {{"tools", {{"mode", "agent"}}, {{"mode", "ss"}}, {"all"}}};
  for (auto& state : made.ledger.states) state.counted_attempt = 1;
  return {made.run, made.ledger};
}

std::optional<log::End> below(const EpisodeId& id, int limit) { return ended(number_of(id) < limit); }

TEST(Population, OneRunIsItself) {
  const std::vector<ReadRun> sources{made_source("a", 1, [](const auto& id) { return below(id, 3); })};
  const auto population = merge_runs(sources);
  EXPECT_EQ(population.run.plan.keys, sources[0].run.plan.keys);
  EXPECT_EQ(population.run.plan.episodes.size(), sources[0].run.plan.episodes.size());
  EXPECT_THAT(population.warnings, IsEmpty());
  EXPECT_EQ(make_cells(evidence_of(population))[0].total.passed, 6u);
}

TEST(Population, WhatIsSaidOfALogNamesItsRunWhereThereAreSeveral) {
  std::vector<ReadRun> sources{made_source("a", 1, [](const auto& id) { return below(id, 3); }),
                               made_source("b", 2, [](const auto& id) { return below(id, 3); })};
  sources[1].ledger.trust = {"never audited"};
  EXPECT_THAT(merge_runs(sources).ledger.trust, ElementsAre("/runs/b: never audited"));
  sources[0].ledger.trust = {"never audited"};
  EXPECT_THAT(merge_runs(sources).ledger.trust, ElementsAre("/runs/a, /runs/b: never audited"));
  sources.pop_back();
  EXPECT_THAT(merge_runs(sources).ledger.trust, ElementsAre("never audited"));
}

TEST(Population, SameKeyAndSeedAreTheSameEpisodes) {
  // Each run scored half of the tasks.
  const std::vector<ReadRun> sources{
      made_source("a", 1, [](const auto& id) { return number_of(id) < 5 ? below(id, 3) : std::nullopt; }),
      made_source("a", 1, [](const auto& id) { return number_of(id) >= 5 ? below(id, 7) : std::nullopt; })};
  const auto population = merge_runs(sources);
  const auto evidence = evidence_of(population);
  ASSERT_EQ(evidence.once(make_cells).size(), 2u);
  EXPECT_EQ(evidence.name, "a");
  EXPECT_EQ(evidence.outstanding, 0u);
  EXPECT_EQ(evidence.once(make_cells)[0].total.episodes, 20u);
  EXPECT_EQ(evidence.once(make_cells)[0].total.passed, 2u * (3 + 2));
  EXPECT_THAT(evidence.once(make_warnings), IsEmpty());
}

TEST(Population, EpisodesScoredTwiceCountOnceAndAreNamedWhereTheyDiffer) {
  auto later = made_source("a", 1, [](const auto& id) { return below(id, 4); });
  for (auto& state : later.ledger.states) state.counted_attempt = 2;
  const std::vector<ReadRun> sources{made_source("a", 1, [](const auto& id) { return below(id, 3); }), later};
  const auto population = merge_runs(sources);
  const auto evidence = evidence_of(population);
  EXPECT_EQ(evidence.once(make_cells)[0].total.episodes, 20u);
  EXPECT_EQ(evidence.once(make_cells)[0].total.passed, 8u);  // the higher attempt
  EXPECT_THAT(evidence.once(make_warnings),
              Contains(HasSubstr("4 episodes are scored in several runs of one seed, and differ")));
}

TEST(Population, ACopyWithAnotherSeedIsRefused) {
  const auto all_pass = [](const auto&) { return ended(true); };
  std::vector<ReadRun> sources{made_source("a", 1, all_pass), made_source("b", 2, all_pass)};
  sources[1].run.run_id = sources[0].run.run_id;
  try {
    merge_runs(sources);
    FAIL() << "counted twice";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("'/runs/a' (seed 1) and '/runs/b' (seed 2) are one run"),
                                             HasSubstr("restore it")));
  }
}

TEST(Population, AnotherSeedAddsReplicates) {
  const std::vector<ReadRun> sources{made_source("a", 1, [](const auto& id) { return below(id, 3); }),
                                     made_source("b", 2, [](const auto& id) { return below(id, 5); })};
  const auto population = merge_runs(sources);
  const auto evidence = evidence_of(population);
  ASSERT_EQ(evidence.once(make_cells).size(), 2u);
  EXPECT_EQ(evidence.name, "a+b");
  EXPECT_EQ(evidence.once(make_cells)[0].total.replicates, 4u);
  EXPECT_EQ(evidence.once(make_cells)[0].total.episodes, 40u);
  EXPECT_EQ(evidence.once(make_cells)[0].total.passed, 2u * 3 + 2u * 5);
  EXPECT_THAT(evidence.once(make_warnings),
              ElementsAre(HasSubstr("replicates of 2 cells come from runs of several seeds")));
  EXPECT_EQ(evidence.once(make_pairs)[0].tasks, 10u);
}

TEST(Population, AnotherKeyIsKeptApartAndComparedWithThePlainCell) {
  auto other = made_source("new-sdk", 1, [](const auto& id) { return below(id, 10); });
  for (auto& key : other.run.plan.keys) key[0] = key[0] == 'x' ? 'y' : 'x';
  const std::vector<ReadRun> sources{made_source("old", 1, [](const auto& id) { return below(id, 1); }), other};
  const auto population = merge_runs(sources);
  const auto evidence = evidence_of(population);
  std::vector<std::string> cells;
  for (const auto& row : evidence.once(make_cells)) cells.push_back(row.cell);
  EXPECT_THAT(cells, ElementsAre("m.ss.p", "m.agent.p", "m.ss.p@new-sdk", "m.agent.p@new-sdk"));
  EXPECT_EQ(evidence.once(make_cells)[2].model, "m");
  EXPECT_EQ(evidence.once(make_cells)[2].total.passed, 20u);
  // tools within each run, then each cell against its namesake; never across.
  std::vector<std::string> pairs;
  for (const auto& row : evidence.once(make_pairs)) pairs.push_back(row.a + " " + row.b + " " + row.contrast);
  EXPECT_THAT(pairs, ElementsAre("m.agent.p m.ss.p tools", "m.agent.p@new-sdk m.ss.p@new-sdk tools",
                                 "m.ss.p@new-sdk m.ss.p runs", "m.agent.p@new-sdk m.agent.p runs"));
  EXPECT_NEAR(*evidence.once(make_pairs)[2].difference, 0.9, 1e-12);
  EXPECT_THAT(evidence.once(make_warnings), Contains(HasSubstr("m.ss.p@new-sdk, m.agent.p@new-sdk are kept apart")));
}

TEST(Population, RunsOfOneNameAreToldApartByTheirFolders) {
  auto other = made_source("same", 1, [](const auto& id) { return below(id, 8); });
  other.run.folder = "/elsewhere/second/";
  other.run.plan.keys[3] = "0000000000000000";  // one task of the first cell
  const std::vector<ReadRun> sources{made_source("same", 1, [](const auto& id) { return below(id, 1); }), other};
  const auto population = merge_runs(sources);
  std::vector<std::string> cells;
  for (const auto& cell : population.run.plan.cells) cells.push_back(cell.id);
  EXPECT_THAT(cells, ElementsAre("m.ss.p", "m.agent.p", "m.ss.p@second"));
}

TEST(Population, NewCellsAndTasksJoinAndALaterModelIsComparedWithTheFirst) {
  const std::vector<ReadRun> sources{
      made_source("a", 1, [](const auto& id) { return below(id, 3); }),
      made_source(
          "b", 1, [](const auto& id) { return below(id, 9); }, {"m.ss.p", "n.ss.p"}, 12)};
  const auto population = merge_runs(sources);
  const auto evidence = evidence_of(population);
  ASSERT_EQ(evidence.once(make_cells).size(), 3u);
  EXPECT_EQ(evidence.once(make_cells)[0].total.tasks, 12u);  // m.ss.p grew by two tasks
  EXPECT_EQ(evidence.once(make_cells)[1].total.tasks, 10u);
  EXPECT_EQ(evidence.once(make_cells)[2].cell, "n.ss.p");
  EXPECT_EQ(evidence.once(make_pairs).back().contrast, "n-vs-m");
  EXPECT_EQ(evidence.once(make_pairs).back().tasks, 12u);
  EXPECT_THAT(evidence.once(make_warnings), Contains(HasSubstr("different task sets")));
}

TEST(Population, OrderOfRunsOfOneSeedChangesNoCount) {
  const std::vector<ReadRun> one{
      made_source("a", 1, [](const auto& id) { return number_of(id) < 5 ? below(id, 3) : std::nullopt; }),
      made_source("b", 2, [](const auto& id) { return below(id, 7); })};
  const std::vector<ReadRun> two{one[1], one[0]};
  const auto merged_one = merge_runs(one), merged_two = merge_runs(two);
  const auto first = evidence_of(merged_one, {.partial = true}), second = evidence_of(merged_two, {.partial = true});
  const auto a = make_cells(first)[0].total, b = make_cells(second)[0].total;
  EXPECT_EQ(a.passed, b.passed);
  EXPECT_EQ(first.outstanding, second.outstanding);
  EXPECT_EQ(a.interval->low, b.interval->low);
}

}  // namespace
}  // namespace nkigrid::aggregate
