#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/aggregate/made_evidence.hpp"

namespace nkigrid::aggregate {
namespace {

using test::ended;
using test::join;
using test::made_run;
using test::made_tasks;
using test::number_of;

/// Two cells over three tasks of L1 and one of L2. b is twice as slow as a; task 2 fails in a; L2/000 of b has no
/// estimate.
test::MadeRun made() {
  return made_run({"a.m.p", "b.m.p"}, join(made_tasks("L1", 3), made_tasks("L2", 1)), 1, [](const EpisodeId& id) {
    const bool second = id.cell == "b.m.p", level_two = id.task.starts_with("L2");
    auto end = ended(second || level_two || number_of(id) != 2);
    end.estimate_us = (level_two ? 100 : 10 + number_of(id)) * (second ? 2.0 : 1.0);
    if (second && level_two) end.estimate_us = std::nan("");
    if (number_of(id) == 0) end.strict_passed = 0;
    return std::optional(end);
  });
}

std::string csv_of(const TableOptions& options) {
  const auto made_up = made();
  return test::printed(evidence_of(made_up.run, made_up.ledger, options), {"estimates"}, Format::csv);
}

TEST(Estimates, AreMediansOfPassingKernelsByCellAndLevel) {
  // a passes with 10, 11 and 100 us; b with 20, 22 and 24, the last on a task that only b solves.
  EXPECT_EQ(csv_of({}),
            "cell,scope,passed,estimated,median_us,median_to_fastest\n"
            "a.m.p,all,3,3,11,1\n"
            "a.m.p,L1,2,2,10.5,1\n"
            "a.m.p,L2,1,1,100,1\n"
            "b.m.p,all,4,3,22,2\n"
            "b.m.p,L1,3,3,22,2\n"
            "b.m.p,L2,1,0,,\n");
}

TEST(Estimates, GoByTheRuleAndNeverCountAKernelThatFails) {
  TableOptions strict;
  strict.rule = Rule::strict;
  EXPECT_EQ(csv_of(strict),
            "cell,scope,passed,estimated,median_us,median_to_fastest\n"
            "a.m.p,all,1,1,11,1\n"
            "a.m.p,L1,1,1,11,1\n"
            "a.m.p,L2,0,0,,\n"
            "b.m.p,all,2,2,23,1.5\n"
            "b.m.p,L1,2,2,23,1.5\n"
            "b.m.p,L2,0,0,,\n");
}

TEST(Estimates, PeopleSeeWhatHasNone) {
  const auto made_up = made();
  const auto text = test::printed(evidence_of(made_up.run, made_up.ledger, {}), {"estimates"}, Format::text);
  EXPECT_THAT(text, testing::HasSubstr("b.m.p: 1 of 4 passing kernels have no estimate"));
  EXPECT_THAT(text, testing::HasSubstr("22.0        2.00"));
}

}  // namespace
}  // namespace nkigrid::aggregate
