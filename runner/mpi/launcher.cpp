#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "runner/mpi/comm.hpp"

namespace nkigrid::mpi {
namespace {

bool is_set(const char* name) { return std::getenv(name) != nullptr; }

/// What the launchers of MPICH and its kin (Intel MPI, MVAPICH) leave, and no other. srun --mpi=pmi2 leaves PMI_* too,
/// for any MPI that was built for it; the count of local ranks is Hydra's own.
bool started_by_hydra() { return is_set("MPI_LOCALNRANKS") || (is_set("PMI_SIZE") && !is_set("SLURM_PROCID")); }

}  // namespace

bool under_launcher() noexcept {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

std::uint32_t launched_processes() noexcept {
  // Open MPI; MPICH, Intel MPI and their kin; srun, whose steps of a batch script are none of ours unless it started
  // us.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"}) {
    if (const char* count = std::getenv(name); count != nullptr && std::atoi(count) > 0)
      return static_cast<std::uint32_t>(std::atoi(count));
  }
  const char* step = std::getenv("SLURM_STEP_NUM_TASKS");
  const bool by_srun = std::getenv("SLURM_PROCID") != nullptr && step != nullptr;
  return by_srun ? static_cast<std::uint32_t>(std::max(1, std::atoi(step))) : 1;
}

void check_launcher(const Comm& comm) {
  const auto launched = launched_processes();
  if (launched <= static_cast<std::uint32_t>(comm.size())) return;
  throw Error(
      ErrorCode::external,
      fmt::format("the launcher started {} processes that do not find one another (MPI sees {}): it is of another "
                  "MPI than the one that nkigrid was built with; put that one's mpirun first in PATH "
                  "(`nkigrid doctor` names the one it finds)",
                  launched, comm.size()));
}

void check_launcher(std::string_view library) {
  const bool by_open_mpi = is_set("OMPI_COMM_WORLD_SIZE") || is_set("PMIX_RANK");
  const bool is_open_mpi = library.find("Open MPI") != std::string_view::npos;
  const bool is_mpich = library.find("MPICH") != std::string_view::npos ||
                        library.find("Intel(R) MPI") != std::string_view::npos ||
                        library.find("MVAPICH") != std::string_view::npos;
  const bool of_mpich = is_open_mpi && started_by_hydra() && !by_open_mpi;
  const bool of_open_mpi = is_mpich && is_set("OMPI_COMM_WORLD_SIZE") && !started_by_hydra();
  if (!of_mpich && !of_open_mpi) return;
  throw Error(
      ErrorCode::external,
      fmt::format("the launcher is {}'s, and nkigrid was built with {}: its processes would not find one "
                  "another; put that one's mpirun first in PATH (`nkigrid doctor` starts the one it finds)",
                  of_mpich ? "MPICH or one of its kin" : "Open MPI", library.substr(0, library.find_first_of(",\n"))));
}

}  // namespace nkigrid::mpi
