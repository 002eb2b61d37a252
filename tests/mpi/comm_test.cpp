#include <atomic>

#include "jobs/base/error.hpp"
#include "tests/mpi/comm_checks.hpp"

namespace nkigrid::mpi {
namespace {

TEST(Loopback, DeliversInOrderToItself) {
  const auto comm = make_loopback();
  EXPECT_EQ(comm->size(), 1);
  check_ring(*comm);
}

TEST(InProcess, DeliversBetweenRanks) {
  run_in_process(4, [](Comm& comm) { check_ring(comm); });
}

TEST(InProcess, BarrierHoldsUntilTheLastRankArrives) {
  std::atomic<int> arrived{0};
  run_in_process(3, [&](Comm& comm) {
    ++arrived;
    comm.barrier("all");
    EXPECT_EQ(arrived.load(), 3);
  });
}

TEST(InProcess, AnErrorOfOneRankReachesTheCaller) {
  EXPECT_THROW(run_in_process(2,
                              [](Comm& comm) {
                                if (comm.rank() == 1) throw Error(ErrorCode::external, "lost");
                              }),
               Error);
}

}  // namespace
}  // namespace nkigrid::mpi
