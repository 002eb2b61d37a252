#pragma once

#include <functional>
#include <string>

#include "slurm/slurm.hpp"

namespace nkigrid::slurm {

/// Asks a controller in a child with a deadline of four seconds: libslurm may exit or stall for a minute. Forks: not
/// where threads run.
/// @returns the answer @throws Error{external} that says what lacks
std::string ask_in_child(const std::function<std::string(Client&)>& question);

}  // namespace nkigrid::slurm
