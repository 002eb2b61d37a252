#include <array>
#include <atomic>
#include <cstdlib>
#include <string>

#include "jobs/base/error.hpp"
#include "tests/mpi/comm_checks.hpp"

namespace nkigrid::mpi {
namespace {

TEST(Loopback, DeliversInOrderToItself) {
  const auto comm = make_loopback();
  EXPECT_EQ(comm->size(), 1);
  check_ring(*comm);
}

/// The environment as no launcher left it, and as it was afterwards.
struct Launcher : testing::Test {
  static constexpr std::array kNames = {
      "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "PMIX_RANK", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"};
  static constexpr const char *kOpenMpi = "Open MPI v4.1.4, package: Debian", *kMpich = "MPICH Version:\t4.0.2";
  Launcher() { clear(); }
  ~Launcher() override { clear(); }
  static void clear() {
    for (const char* name : kNames) ::unsetenv(name);
  }
};

TEST_F(Launcher, NoneIsNoTrouble) {
  EXPECT_EQ(launched_processes(), 1u);
  EXPECT_NO_THROW(check_launcher(*make_loopback()));
}

TEST_F(Launcher, OfAnotherMpiIsToldByTheProcessesThatItStarted) {
  ::setenv("PMI_SIZE", "8", 1);
  try {
    check_launcher(*make_loopback());
    FAIL() << "each would take itself for the whole run";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::external);
    EXPECT_NE(std::string(error.what()).find("started 8 processes that do not find one another"), std::string::npos);
  }
  ::setenv("PMI_SIZE", "1", 1);
  EXPECT_NO_THROW(check_launcher(*make_loopback()));
}

// The variables are those that Hydra 4.0 and Open MPI 4.1 were seen to set.
TEST_F(Launcher, OfAnotherMpiIsToldBeforeMpiStarts) {
  ::setenv("PMI_SIZE", "1", 1);
  ::setenv("MPI_LOCALNRANKS", "1", 1);
  try {
    check_launcher(kOpenMpi);
    FAIL() << "MPI_Init would end the process";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::external);
    EXPECT_NE(std::string(error.what()).find("MPICH or one of its kin's, and nkigrid was built with Open MPI v4.1.4:"),
              std::string::npos)
        << error.what();
  }
  EXPECT_NO_THROW(check_launcher(kMpich));
  ::setenv("SLURM_PROCID", "0", 1);
  EXPECT_THROW(check_launcher(kOpenMpi), Error) << "its proxies run in a step of srun's";
  ::unsetenv("MPI_LOCALNRANKS");
  EXPECT_NO_THROW(check_launcher(kOpenMpi)) << "srun --mpi=pmi2";
  clear();
  ::setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  EXPECT_NO_THROW(check_launcher(kOpenMpi));
  EXPECT_THROW(check_launcher(kMpich), Error);
  ::setenv("PMI_SIZE", "8", 1);
  EXPECT_NO_THROW(check_launcher(kOpenMpi)) << "an outer job's leftovers";
}

TEST_F(Launcher, AStepOfSrunCountsAsOne) {
  ::setenv("SLURM_STEP_NUM_TASKS", "4", 1);
  EXPECT_EQ(launched_processes(), 1u) << "a variable of the batch script's";
  ::setenv("SLURM_PROCID", "2", 1);
  EXPECT_EQ(launched_processes(), 4u);
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
