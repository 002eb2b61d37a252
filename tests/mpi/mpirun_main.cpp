// The communicator's checks under a real launcher: mpirun -n N nkigrid_mpirun_checks.
#include "jobs/base/error.hpp"
#include "tests/mpi/comm_checks.hpp"

namespace nkigrid::mpi {
namespace {

Comm* world = nullptr;

TEST(Mpi, DeliversBetweenRanks) { check_ring(*world); }

TEST(Mpi, SendToARankThatDoesNotExistIsAnErrorWithItsHint) {
  try {
    world->send(world->size() + 99, 1, "x", "deal episodes");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::external);
    EXPECT_NE(std::string(error.what()).find("deal episodes"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace nkigrid::mpi

int main(int argc, char** argv) {
  if (!nkigrid::mpi::under_launcher()) return 2;
  const auto comm = nkigrid::mpi::make_mpi(&argc, &argv);
  nkigrid::mpi::world = comm.get();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
