#pragma once

#include <functional>

#include "jobs/base/files.hpp"

namespace nkigrid::proc {

/// What a single-use child does.
struct ChildWork {
  /// Before it has a request: all that needs none of it, the sandbox first. @param work the one descriptor to keep
  std::function<void(int work)> prepare;
  /// @param work the stream to the one who asked. @returns the exit status
  std::function<int(Fd work)> serve;
};

/// The C++ form of a fork server: one child an order until the other end of `control` closes. It kills a child whose
/// job is cancelled or abandoned, and tells how each ended. Children are forked ahead, when nobody waits. One thread,
/// no data.
/// @returns the exit status of the server
int serve_forks(int control, const ChildWork& child);

}  // namespace nkigrid::proc
