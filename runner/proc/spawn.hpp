#pragma once

#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "jobs/base/files.hpp"
#include "runner/proc/child.hpp"

namespace nkigrid::proc {

/// A running child: reaped by exactly one wait.
struct Process {
  pid_t pid = -1;
  Fd pidfd;  ///< readable once it has ended
};

enum class Group { own_group, own_session };

/// One descriptor of the child: `child` is its number there, `ours` what it is a copy of.
struct DescriptorMap {
  int ours = -1, child = -1;
};

/// Starts a program; its streams are /dev/null unless `descriptors` maps them, and every other descriptor is closed on
/// exec (all of ours carry close-on-exec). posix_spawn: safe in a process with threads.
/// @throws Error{io} naming the program when it cannot be started.
Process spawn(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
              std::span<const DescriptorMap> descriptors, Group group);

/// Reaps a child that has ended (or waits for it). @throws Error{io}
ChildEnd reap(const Process& process);

/// Turns a wait status into a value.
ChildEnd from_wait_status(int status) noexcept;

/// pidfd_open(2), close-on-exec. @throws Error{io}
Fd open_pidfd(pid_t pid);

/// OPENBLAS_* and OMP_* of our own environment, the only variables that pass to children: on some processors they are
/// what makes results right. Sorted; with the thread counts forced to 1.
std::vector<std::string> numeric_environment();

}  // namespace nkigrid::proc
