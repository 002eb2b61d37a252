#pragma once

#include <functional>

#include "jobs/base/files.hpp"

namespace nkigrid::proc {

/// Runs in a single-use child. @param work the stream to the one who asked. @returns the exit status
using ChildMain = std::function<int(Fd work)>;

/// The C++ form of a fork server: forks one child a job until the other end of `control` closes, kills a child whose
/// job is cancelled or abandoned, and tells how each ended. One thread, no data.
/// @returns the exit status of the server
int serve_forks(int control, const ChildMain& child_main);

}  // namespace nkigrid::proc
