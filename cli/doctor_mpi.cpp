#include "cli/doctor_mpi.hpp"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include "cli/cluster.hpp"
#include "cli/first_line.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/own_line.hpp"
#include "jobs/base/text.hpp"
#include "jobs/finding.hpp"
#include "runner/mpi/comm.hpp"
#include "runner/proc/child.hpp"

namespace nkigrid::cli {
namespace {

using jobs::lacks;

constexpr Seconds kStart{60};  ///< for one rank; a login node may be busy

/// What an element's mpirun would have, without what ties it to a job or a launcher around us.
std::vector<std::string> launcher_environment() {
  std::vector<std::string> kept = {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"};
  for (const std::string name : {"PATH", "HOME", "USER", "TMPDIR", "LD_LIBRARY_PATH", "MODULEPATH", "OPAL_PREFIX"}) {
    if (const char* value = std::getenv(name.c_str()); value != nullptr) kept.push_back(name + "=" + value);
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::string_view(*entry).rfind("OMPI_MCA_", 0) == 0) kept.emplace_back(*entry);
  }
  return kept;
}

}  // namespace

std::string look_at_mpirun() {
  if (const auto program = find_program("mpirun")) {
    const auto path = std::filesystem::absolute(*program).native();
    const auto result = proc::run_command(
        {path, "-n", "1", "--bind-to", "none", program_path(), "doctor", "--mpi", "1"}, kStart, launcher_environment());
    if (proc::is_success(result.end)) return fmt::format("'{}' starts ranks: {}", path, first_line(result.out));
    if (std::holds_alternative<proc::TimedOut>(result.end))
      lacks(
          fmt::format("'{}' did not start a rank within {:.0f} s; try `mpirun -n 1 nkigrid doctor --mpi 1` when the "
                      "machine is less busy",
                      path, kStart.count()));
    lacks(fmt::format(
        "'{}' starts no rank of nkigrid's ({}: {}); load the module of the MPI that nkigrid was built with", path,
        proc::describe(result.end), printable(own_line(result.err.empty() ? result.out : result.err))));
  }
  for (const std::string folder : {"/usr/bin", "/usr/local/bin", "/opt/amazon/openmpi/bin"}) {
    if (std::filesystem::exists(folder + "/mpirun"))
      lacks(fmt::format("'{0}/mpirun' is not in PATH, where `submit` and its elements look; export PATH={0}:$PATH",
                        folder));
  }
  lacks("no mpirun in PATH; install openmpi-bin, or load the site's module (single-process runs work without)");
}

ExitCode join_ranks(std::uint32_t ranks, ProgramArguments arguments) {
  if (!mpi::under_launcher())
    lacks(
        fmt::format("no MPI launcher that nkigrid knows started this process; start it with `mpirun -n {0} nkigrid "
                    "doctor --mpi {0}`, with the mpirun of {1}",
                    ranks, first_line(mpi::library_version())));
  const auto comm = mpi::make_mpi(arguments.argc, arguments.argv);
  mpi::check_launcher(*comm);
  if (static_cast<std::uint32_t>(comm->size()) != ranks)
    lacks(fmt::format("{} ranks were to start, MPI sees {}; put the mpirun of {} first in PATH", ranks, comm->size(),
                      first_line(mpi::library_version())));
  comm->barrier("join the ranks");
  const auto version = mpi::library_version();
  if (comm->rank() == 0)
    fmt::print("{}, {} of {} ranks\n", version.substr(0, version.find_first_of(",\n")), ranks, ranks);
  return ExitCode::done;
}

}  // namespace nkigrid::cli
