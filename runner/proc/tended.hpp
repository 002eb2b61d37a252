#pragma once

#include <string>
#include <vector>

#include "jobs/base/clock.hpp"
#include "jobs/base/files.hpp"
#include "runner/proc/bound_child.hpp"
#include "runner/proc/child.hpp"

namespace nkigrid::proc {

/// A long-running program in a session of its own that hears signals. Neither it nor any of its descendants outlives
/// the process which tends it, however that one ends (bound_child.hpp), or end().
class Tended {
 public:
  /// @param argv absolute path first @param environment NAME=value, all there is @param output of its stdout and stderr
  /// @throws Error{io} naming the program when it cannot be started
  Tended(const std::vector<std::string>& argv, const std::vector<std::string>& environment, const Fd& output);
  /// As end() without grace.
  ~Tended();
  Tended(const Tended&) = delete;
  Tended& operator=(const Tended&) = delete;

  int pidfd() const noexcept { return program_.process.pidfd.get(); }  ///< readable once the program has ended
  /// SIGTERM to its session's group, after `grace` SIGKILL to that and to every descendant that left it.
  /// @returns how the program itself ended
  ChildEnd end(Seconds grace);

 private:
  Bound program_;
  bool ended_ = false;
};

}  // namespace nkigrid::proc
