#include <algorithm>
#include <cstdlib>
#include <deque>
#include <utility>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "runner/mpi/comm.hpp"

namespace nkigrid::mpi {
namespace {

/// One rank without MPI: messages to oneself come back in order.
class Loopback final : public Comm {
 public:
  int rank() const noexcept override { return 0; }
  int size() const noexcept override { return 1; }
  void send(int, int tag, std::string bytes, std::string_view) override {
    queue_.push_back({0, tag, std::move(bytes)});
  }
  std::optional<Incoming> poll(std::string_view) override {
    if (queue_.empty()) return std::nullopt;
    Incoming message = std::move(queue_.front());
    queue_.pop_front();
    return message;
  }
  void barrier(std::string_view) override {}
  void abort(ExitCode code) override { std::_Exit(static_cast<int>(code)); }

 private:
  std::deque<Incoming> queue_;
};

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

std::unique_ptr<Comm> make_loopback() { return std::make_unique<Loopback>(); }

}  // namespace nkigrid::mpi
