#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "jobs/base/clock.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/ids.hpp"
#include "jobs/run_directory.hpp"
#include "jobs/scheduler.hpp"

namespace nkigrid::slurm {

/// The index of the array element in which this process runs: SLURM_ARRAY_TASK_ID. @throws Error{usage}
std::optional<ShardId> array_element();

/// When the allocation ends in which this process runs [Unix s]: SLURM_JOB_END_TIME (Slurm 23.02 on), else what the
/// controller says, else now and `asked`. Nothing outside an allocation. Forks: call it before threads and MPI, on one
/// rank.
/// @param asked the time limit that the element was submitted with
std::optional<double> allocation_end(Seconds asked);

/// The elements of this process's array that still wait leave `nodes` ("trn2,trn7") out. Does nothing outside an array.
/// @throws Error{external}
void leave_out_of_waiting(const std::string& nodes);

/// What else of the run lives, seen from this process's element. Nothing outside an array. @throws Error{external}
std::optional<jobs::Others> others_of(const jobs::Run& run);

/// Whether an element of the run waits or works, by the controller. True where it cannot be asked. Forks.
bool has_elements(const jobs::Run& run);

/// Asks the controller anew when the allocation ends, for an administrator may move it, and nobody waits for the
/// answer: a child that is forked at once asks on demand. It dies with this process. Outside an allocation it does
/// nothing.
class AllocationWatch {
 public:
  AllocationWatch();  ///< Forks: make it before threads and MPI, on one rank.
  ~AllocationWatch();
  AllocationWatch(const AllocationWatch&) = delete;
  AllocationWatch& operator=(const AllocationWatch&) = delete;

  void ask();  ///< never blocks; does nothing while a question is open
  std::optional<double>
  answer();  ///< once an answer: the end [Unix s]; nothing where the controller is away or knows no limit

 private:
  Fd questions_, answers_;
  pid_t child_ = -1;
  bool open_ = false;
};

}  // namespace nkigrid::slurm
