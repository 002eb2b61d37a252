#include "runner/proc/namespaces.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

namespace nkigrid::proc {
namespace {

constexpr int kNetwork = CLONE_NEWNET | CLONE_NEWIPC;

bool unshared(int what) noexcept { return ::unshare(what) == 0 || ::unshare(CLONE_NEWUSER | what) == 0; }

/// Process 1 of the children's namespace: without one that stays, the namespace ends with its first child. It ends when
/// its server does, and with it the kernel ends everybody in the namespace: by the signal from the moment it has said
/// so, by the end of the line before that (afterwards every child of the server holds the line's other end too).
[[noreturn]] void keep_namespace(int line) noexcept {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::setsid() < 0) ::_exit(1);
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  // Standard streams, sockets of the server: whoever waits for their end must not wait for this process.
  if (::dup2(line, 0) != 0 || ::close_range(1, UINT_MAX, 0) != 0) ::_exit(1);
  char byte = 'k';
  if (::send(0, &byte, 1, MSG_NOSIGNAL) != 1) ::_exit(1);
  while (::read(0, &byte, 1) < 0 && errno == EINTR) {
  }
  ::_exit(0);
}

/// Returns once process 1 is sure to end with its server. @returns false when there can be none
bool start_keeper() noexcept {
  int line[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) != 0) return false;
  const pid_t keeper = ::fork();
  if (keeper == 0) keep_namespace(line[1]);
  ::close(line[1]);
  char byte = 0;
  ssize_t got = -1;
  while (keeper > 0 && (got = ::read(line[0], &byte, 1)) < 0 && errno == EINTR) {
  }
  // Our end stays open as long as we live.
  return got == 1;
}

}  // namespace

Namespaces leave_namespaces() noexcept {
  if (unshared(kNetwork | CLONE_NEWPID)) {
    if (start_keeper()) return {true, true};
    ::_exit(1);  // no child could be made any more
  }
  return {unshared(kNetwork), false};
}

Namespaces namespaces_that_may_be_left() noexcept {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(unshared(kNetwork | CLONE_NEWPID) ? 2 : unshared(kNetwork) ? 1 : 0);
  int status = 0;
  if (child < 0) return {};
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const int left = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return {left >= 1, left == 2};
}

}  // namespace nkigrid::proc
