#pragma once

#include <functional>
#include <memory>
#include <string>

#include "slurm/slurm.hpp"

namespace nkigrid::slurm {

/// Asks a controller in a child with a deadline of four seconds: libslurm may exit or stall for a minute. Forks: not
/// where threads run.
/// @returns the answer @throws Error{external} that says what lacks
std::string ask_in_child(const std::function<std::string(Client&)>& question);

/// Looks at the configuration, probes it in a child with a deadline (libslurm may exit or stall for a minute), then
/// loads the plugin.
/// @throws Error{external} within 5 s, naming what lacks.
std::unique_ptr<Client> connect();

}  // namespace nkigrid::slurm
