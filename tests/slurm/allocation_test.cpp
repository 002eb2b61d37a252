#include "slurm/allocation.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "jobs/base/error.hpp"
#include "slurm/connect.hpp"
#include "slurm/scheduler.hpp"

namespace nkigrid::slurm {
namespace {

/// The environment of an array element, gone after the test.
struct Element : testing::Test {
  Element() { ::unsetenv("SLURM_ARRAY_TASK_ID"), ::unsetenv("SLURMD_NODENAME"); }
  ~Element() override { ::unsetenv("SLURM_ARRAY_TASK_ID"), ::unsetenv("SLURMD_NODENAME"); }
};

TEST_F(Element, OutsideAJobNothingIsKnown) {
  const auto allocation = make_allocation();
  EXPECT_EQ(allocation->element(), std::nullopt);
  EXPECT_EQ(allocation->node(), "");
}

TEST_F(Element, ItsIndexAndItsNodeAreTheEnvironments) {
  ::setenv("SLURM_ARRAY_TASK_ID", "12", 1);
  ::setenv("SLURMD_NODENAME", "trn3", 1);
  const auto allocation = make_allocation();
  EXPECT_EQ(allocation->element(), ShardId{12});
  EXPECT_EQ(allocation->node(), "trn3");
}

TEST_F(Element, AnIndexThatIsNoNumberIsNamed) {
  ::setenv("SLURM_ARRAY_TASK_ID", "3x", 1);
  try {
    array_element();
    FAIL() << "read as a number";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("'3x' is no shard number"));
  }
}

TEST(Connect, WaitsAsLongAsSlurmConfSays) {
  EXPECT_EQ(message_timeout(""), 10) << "slurm.conf(5)";
  EXPECT_EQ(message_timeout("ClusterName=lab\nMessageTimeout=45\n"), 45);
  EXPECT_EQ(message_timeout("messagetimeout = 7 # seconds\nMinJobAge=300"), 7);
  EXPECT_EQ(message_timeout("#MessageTimeout=60\n"), 10);
  EXPECT_EQ(message_timeout("MessageTimeout=\n"), 10);
}

TEST_F(Element, OutsideAnArrayNobodyIsAskedForOthers) { EXPECT_EQ(make_allocation()->others({}), std::nullopt); }

}  // namespace
}  // namespace nkigrid::slurm
