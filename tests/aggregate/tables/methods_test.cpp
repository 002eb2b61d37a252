#include <gtest/gtest.h>

#include "aggregate/tables/method_pairs.hpp"
#include "aggregate/tables/methods.hpp"
#include "tests/aggregate/made_run.hpp"

namespace nkigrid::aggregate {
namespace {

using test::made_run, test::made_tasks, test::number_of;

TEST(Methods, PoolCheckpointsOfOneMethod) {
  auto made =
      made_run({"base.ss.p", "g1.ss.p", "g2.ss.p", "g3.ss.p"}, made_tasks("L1", 20), 2, [](const EpisodeId& id) {
        const int more = id.cell[0] == 'b' ? 0 : id.cell[1] - '0';
        return test::ended((number_of(id) * 7 + static_cast<int>(id.replicate)) % 20 < 6 + more);
      });
  for (auto& model : made.run.grid.models) {
    if (model.name != "base") model.method = "grpo";
  }
  const auto evidence = evidence_of(made.run, made.ledger);
  ASSERT_EQ(evidence.once(make_methods).size(), 2u);
  EXPECT_EQ(evidence.once(make_methods)[0].method, "base");
  EXPECT_FALSE(evidence.once(make_methods)[0].interval);  // one checkpoint says nothing of others
  EXPECT_EQ(evidence.once(make_methods)[1].cells.size(), 3u);
  EXPECT_NEAR(*evidence.once(make_methods)[1].rate, 0.4, 1e-12);
  EXPECT_NEAR(*evidence.once(make_methods)[1].between_checkpoints, 0.05, 1e-12);
  ASSERT_EQ(evidence.once(make_method_pairs).size(), 1u);
  EXPECT_NEAR(*evidence.once(make_method_pairs)[0].difference, 0.1, 1e-12);
  EXPECT_EQ(evidence.once(make_method_pairs)[0].test, "checkpoint-t");
  made.run.grid.models[1].method.reset();
  made.run.grid.models[2].method.reset();
  made.run.grid.models[3].method.reset();
  EXPECT_TRUE(make_methods(evidence_of(made.run, made.ledger)).empty());
}

}  // namespace
}  // namespace nkigrid::aggregate
