#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/base/error.hpp"

namespace nkigrid::mpi {

struct Incoming {
  int source = 0;
  int tag = 0;
  std::string bytes;
};

/// A communicator with only what we use. Never blocks in MPI: poll() returns at once, so that an idle rank can sleep.
/// Three forms: real MPI, loopback (one rank, no MPI), and an in-process one with n ranks for tests.
/// @threads the thread that made it only (MPI is funneled).
class Comm {
 public:
  virtual ~Comm() = default;
  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;
  /// Hands a message over; completes in the background. @throws Error{external} naming `hint` when MPI fails.
  virtual void send(int destination, int tag, std::string bytes, std::string_view hint) = 0;
  /// A waiting message, or nothing. Also drives sends along.
  virtual std::optional<Incoming> poll(std::string_view hint) = 0;
  /// Waits for all sends to complete and all ranks to arrive, sleeping between polls.
  virtual void barrier(std::string_view hint) = 0;
  /// Ends every rank of the job at once.
  [[noreturn]] virtual void abort(ExitCode code) = 0;
};

/// True when this process was started by an MPI launcher (OMPI_COMM_WORLD_SIZE, PMI_SIZE, PMIX_RANK).
bool under_launcher() noexcept;

/// How many processes the launcher started with this one, as far as its environment tells; 1 where it does not.
std::uint32_t launched_processes() noexcept;

/// A launcher of another MPI starts processes that do not find one another: each would take itself for the whole run.
/// @throws Error{external} when more were launched than `comm` has
void check_launcher(const Comm& comm);

/// The same before MPI_Init, which ends the process without our words and exit code when it meets another's launcher
/// inside a Slurm job. Only what is certainly another's is refused. @param library MPI_Get_library_version()
/// @throws Error{external} with both names
void check_launcher(std::string_view library);

/// What nkigrid was built with, as it names itself: "Open MPI v4.1.4, package: ...".
std::string library_version();

std::unique_ptr<Comm> make_loopback();

/// MPI_Init_thread(FUNNELED), a private duplicate of the world with MPI_ERRORS_RETURN. The destructor finalizes, except
/// while unwinding. @pre under_launcher(); fork servers are already started.
/// @throws Error{external} under another MPI's launcher
std::unique_ptr<Comm> make_mpi(int* argc, char*** argv);

/// Runs `body` on n threads, each with its own communicator of one in-process world.
void run_in_process(int ranks, const std::function<void(Comm&)>& body);

}  // namespace nkigrid::mpi
