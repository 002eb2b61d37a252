#pragma once

#include <string>
#include <vector>

#include "runner/proc/spawn.hpp"

namespace nkigrid::proc {

/// Starts a program in a process group of its own that the kernel ends (SIGKILL) when the calling thread does, however
/// that ends: for callers that wait for it. posix_spawn has no word for that. Stdin is /dev/null, every other
/// descriptor is closed on exec; its signals are as spawn() gives them.
/// @param out, err become its stdout and stderr
/// @threads safe
/// @throws Error{io} naming the program when it cannot be started
Process start_bound(const std::vector<std::string>& argv, const std::vector<std::string>& environment, const Fd& out,
                    const Fd& err);

}  // namespace nkigrid::proc
