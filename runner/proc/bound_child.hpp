#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/proc/spawn.hpp"

namespace nkigrid::proc {

/// A program under a keeper (nkigrid_confine, docs/decisions/sandbox.md): whatever it started ends when it ends, when
/// it is told to, and when we do, however that happens.
struct Bound {
  Process process;  ///< the keeper: leads the group, and ends as the program ended, when nobody of it is left
  Fd lifeline;
};

struct BoundStart {
  std::vector<std::string> environment;  ///< NAME=value, all there is
  int out = -1, err = -1;                ///< become its stdout and stderr; stdin is /dev/null
  Group group = Group::own_group;
  bool hears_signals = false;  ///< else the stop signals stay blocked in it, as spawn() has it
  /// A folder that goes with us when we are killed; "": none. Who lives removes it himself.
  std::filesystem::path scratch;
};

/// @param argv absolute path first
/// @threads safe
/// @throws Error{io} naming the program when it cannot be started, Error{config} where the keeper is not installed
Bound start_bound(const std::vector<std::string>& argv, const BoundStart& start);

/// Has the keeper kill whoever is left, and reaps it. @returns how the program ended, SIGKILL when it was us @throws
/// Error
ChildEnd end_bound(Bound& bound);

}  // namespace nkigrid::proc
