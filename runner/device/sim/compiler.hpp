#pragma once

#include <optional>
#include <string>

#include "runner/device/backend.hpp"
#include "runner/device/sim/fork_servers.hpp"

namespace nkigrid::device {

/// Compiles one kernel for the simulator: traces it in a child, then proves on the trusted side that what came back is
/// a program, obeys the law and fits the task. Success is that proof, never what the child claims. A child that died is
/// a doubt. @threads safe
CompileAttempt compile_for_simulator(ForkServers& servers, const jobs::NkiOptions& options, const jobs::Task& task,
                                     const std::string& source, const std::optional<std::string>& entry,
                                     Seconds timeout);

}  // namespace nkigrid::device
