#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "slurm/slurm.hpp"

namespace nkigrid::slurm {

/// Whether somebody looks on: after two seconds he is told what is waited for.
enum class Onlooker { user, nobody };

/// Asks a controller in a child with a deadline, as long as Slurm's own commands wait (MessageTimeout of slurm.conf, 10
/// s where it says none) and a bit: libslurm may exit or stall for a minute. Forks: not where threads run.
/// @returns the answer @throws Error{external} that says what lacks
std::string ask_in_child(const std::function<std::string(Client&)>& question, Onlooker onlooker = Onlooker::user);

/// MessageTimeout of a slurm.conf's text [s], Slurm's default of 10 where it says none.
int message_timeout(std::string_view conf);

/// Looks at the configuration, probes it in a child as ask_in_child() does, then loads the plugin.
/// @throws Error{external}, naming what lacks.
std::unique_ptr<Client> connect();

}  // namespace nkigrid::slurm
