#pragma once

#include <sys/types.h>

#include <vector>

struct sock_filter;

namespace nkigrid::proc {

/// What kind of child a filter is for. `python`: a tracer, may open files for reading (Landlock says which). `engine`:
/// runs a program on data it has already, opens nothing. `program`: a whole foreign program with children of its own (a
/// vendor's compiler, a runtime); a short list of calls is refused.
enum class SandboxProfile { python, engine, program };

/// True when the kernel can filter system calls and kill the whole process for a denied one.
bool has_seccomp() noexcept;

/// A compiled filter that many children can install, each for its own process number.
///
/// Three answers to a system call: allowed (a short list); refused with EPERM (everything that is not listed: a library
/// may try it and go on); SIGSYS for an act that no honest kernel does (sockets, exec, ptrace, reading or signalling
/// other processes, opening for writing or changing the file system, mounts, namespaces, bpf, keys, io_uring). A
/// `program` is different: what is on its list is refused with EPERM, the rest allowed, and nothing kills, since it may
/// try in good faith. See docs/decisions/sandbox.md.
class SeccompFilter {
 public:
  /// @throws Error{external} when libseccomp cannot build it.
  explicit SeccompFilter(SandboxProfile profile);
  ~SeccompFilter();
  SeccompFilter(SeccompFilter&&) noexcept;
  SeccompFilter& operator=(SeccompFilter&&) noexcept;

  /// Installs it in this process; only signals to `self` stay allowed. @pre no_new_privs. @returns false: errno says
  /// why
  bool install(pid_t self) const noexcept;

 private:
  std::vector<sock_filter> program_;
  std::vector<std::size_t> own_process_places_;  // instructions that compare with the process number
};

}  // namespace nkigrid::proc
