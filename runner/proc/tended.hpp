#pragma once

#include <string>
#include <vector>

#include "jobs/base/clock.hpp"
#include "jobs/base/files.hpp"
#include "runner/proc/child.hpp"
#include "runner/proc/spawn.hpp"

namespace nkigrid::proc {

/// Orphans of what this process starts become its own children, so that Tended::end() finds them.
void adopt_orphans();

/// A long-running program in a session of its own, that does not outlive the process which tends it: the kernel kills
/// it when that one dies, however it dies, and end() leaves none of its descendants.
class Tended {
 public:
  /// @param argv absolute path first @param environment NAME=value, all there is @param output of its stdout and stderr
  /// @pre this process has one thread, and called adopt_orphans()
  /// @throws Error{io} naming the program when it cannot be started
  Tended(const std::vector<std::string>& argv, const std::vector<std::string>& environment, const Fd& output);
  /// As end() without grace.
  ~Tended();
  Tended(const Tended&) = delete;
  Tended& operator=(const Tended&) = delete;

  int pidfd() const noexcept { return process_.pidfd.get(); }  ///< readable once the program has ended
  /// SIGTERM to its session's group, after `grace` SIGKILL to that and to every descendant that left it. Reaps all.
  /// @returns how the program itself ended
  ChildEnd end(Seconds grace);

 private:
  Process process_;
  bool ended_ = false;
};

}  // namespace nkigrid::proc
