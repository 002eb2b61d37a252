#pragma once

#include <cstdint>
#include <string>

#include "cli/verb.hpp"

namespace nkigrid::cli {

/// Looks whether the mpirun in PATH starts a rank of the MPI that this program was built with, by starting one.
/// @returns which it is @throws Error{external} that says what to do
std::string look_at_mpirun();

/// `doctor --mpi N`, one of the N ranks that a launcher starts: joins the others and says how many there are.
/// @throws Error{external} when the launcher is another MPI's or started something else than N ranks
ExitCode join_ranks(std::uint32_t ranks, ProgramArguments arguments);

}  // namespace nkigrid::cli
