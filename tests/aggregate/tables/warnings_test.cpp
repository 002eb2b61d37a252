#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aggregate/tables/cells.hpp"
#include "aggregate/tables/warnings.hpp"
#include "tests/aggregate/made_run.hpp"

namespace nkigrid::aggregate {
namespace {

using test::ended, test::join, test::made_run, test::made_tasks, test::number_of;
using testing::Contains, testing::ElementsAre, testing::HasSubstr, testing::IsEmpty, testing::Not;

test::MadeRun whole_run() {
  return made_run({"m.ss.p", "m.agent.p"}, join(made_tasks("L1", 12), made_tasks("L2", 8)), 3,
                  [](const EpisodeId& id) { return ended(static_cast<int>(id.replicate) <= number_of(id) % 4); });
}

TEST(Tables, SyntheticMarkOfCountedRowsIsAWarning) {
  const auto made = made_run({"m.ss.p", "n.ss.p"}, made_tasks("L1", 10), 1, [](const EpisodeId& id) {
    auto end = ended(true);
    end.synthetic = id.cell == "n.ss.p" && id.task == "L1/003";
    return end;
  });
  EXPECT_THAT(make_warnings(evidence_of(made.run, made.ledger)),
              ElementsAre("cell n.ss.p: the replies come from nkigrid's synthetic model, which is not a "
                          "language model; the rates say nothing about any real one"));
}

TEST(Tables, WarnsOfColdReplicatesDamageAndOtherGrids) {
  auto made = whole_run();
  EXPECT_THAT(make_warnings(evidence_of(made.run, made.ledger)), IsEmpty());
  made.run.grid.models[0].temperature = 0.0;
  made.ledger.warnings = {"/some/path/a.journal: 12 bytes skipped"};
  made.ledger.ignored_rows = 4;
  const auto warnings = make_warnings(evidence_of(made.run, made.ledger));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("all cells: replicates were drawn at temperature 0"),
                                    HasSubstr("4 rows of the log belong to another grid")));
}

TEST(Tables, DamageIsAWarningWhileItMayHaveCostAnEpisode) {
  auto made = whole_run();
  made.ledger.warnings = {"/some/path/a.journal: 12 bytes skipped"};
  EXPECT_THAT(make_warnings(evidence_of(made.run, made.ledger)), IsEmpty())
      << "every episode is scored: same seed, same bytes";
  made.ledger.states[0] = {};
  made.ledger.ends[0].reset();
  const auto warnings = make_warnings(evidence_of(made.run, made.ledger));
  EXPECT_THAT(warnings, Contains(HasSubstr("damaged in 1 place;")));
  EXPECT_THAT(warnings, Not(Contains(HasSubstr("/some/path"))));
}

TEST(Tables, CellsOfDifferentTaskSetsAreMarked) {
  auto made = whole_run();
  auto& plan = made.run.plan;
  for (std::size_t i = plan.episodes.size(); i-- > 0;) {  // the second cell loses one task
    if (plan.episodes[i].cell != 1 || plan.episodes[i].task != 0) continue;
    plan.episodes.erase(plan.episodes.begin() + static_cast<std::ptrdiff_t>(i));
    made.ledger.ends.erase(made.ledger.ends.begin() + static_cast<std::ptrdiff_t>(i));
    made.ledger.states.erase(made.ledger.states.begin() + static_cast<std::ptrdiff_t>(i));
  }
  const auto evidence = evidence_of(made.run, made.ledger);
  EXPECT_EQ(evidence.once(make_cells)[1].total.tasks, 19u);
  EXPECT_THAT(evidence.once(make_warnings), Contains(HasSubstr("different task sets")));
}

}  // namespace
}  // namespace nkigrid::aggregate
