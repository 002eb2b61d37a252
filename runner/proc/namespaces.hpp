#pragma once

namespace nkigrid::proc {

/// Which namespaces a process has left, or may leave.
struct Namespaces {
  bool network = false;    ///< and the IPC objects of the machine
  bool processes = false;  ///< later children see, and can signal, one another only
};

/// In a server, once, while it has one thread: leaves the network, the IPC objects and, for its later children, the
/// process numbers of the machine, where that is allowed (root, or a kernel that lets users make namespaces). Second
/// walls; the filter is the first. Later children have a keeper as process 1, so that all of them die with the server
/// even when it is killed; their getppid() is 0.
Namespaces leave_namespaces() noexcept;

/// What leave_namespaces() would come to, tried in a child.
Namespaces namespaces_that_may_be_left() noexcept;

}  // namespace nkigrid::proc
