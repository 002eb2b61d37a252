#include "runner/proc/bound_child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>

#include "jobs/base/error.hpp"

namespace nkigrid::proc {
namespace {

/// All that the child needs, made before it is: it shares our memory until it is another program.
struct Start {
  std::vector<char*> argv, environment;
  int out = -1, err = -1;
  pid_t parent = -1;
  sigset_t blocked = {};
};

std::vector<char*> raw_strings(const std::vector<std::string>& strings) {
  std::vector<char*> raw;
  for (const auto& text : strings) raw.push_back(const_cast<char*>(text.c_str()));
  raw.push_back(nullptr);
  return raw;
}

/// In the child: system calls alone.
[[noreturn]] void become_bound(const Start& start, volatile int& error) noexcept {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != start.parent) ::_exit(127);  // it died before we asked to be told
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  // Above the streams: our own may be closed, and a pipe have one of their numbers.
  const int out = ::fcntl(start.out, F_DUPFD_CLOEXEC, 3), err = ::fcntl(start.err, F_DUPFD_CLOEXEC, 3);
  const int nowhere = ::open("/dev/null", O_RDWR);
  const bool streams = out >= 0 && err >= 0 && nowhere >= 0 && ::dup2(nowhere, 0) >= 0 && ::dup2(out, 1) >= 0 &&
                       ::dup2(err, 2) >= 0 && (nowhere < 3 || ::close(nowhere) == 0);
  if (streams && ::sigprocmask(SIG_SETMASK, &start.blocked, nullptr) == 0)
    ::execve(start.argv[0], start.argv.data(), start.environment.data());
  error = errno;
  ::_exit(127);
}

}  // namespace

Process start_bound(const std::vector<std::string>& argv, const std::vector<std::string>& environment, const Fd& out,
                    const Fd& err) {
  Start start{raw_strings(argv), raw_strings(environment), out.get(), err.get(), ::getpid(), {}};
  sigemptyset(&start.blocked);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) sigaddset(&start.blocked, signal);
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of ours may run in the child
  volatile int error = 0;
  const pid_t child = ::vfork();
  if (child == 0) become_bound(start, error);
  const int failed = child < 0 ? errno : error;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  Process process;
  process.pid = child;
  if (child > 0 && failed != 0) reap(process);
  if (failed != 0) throw_errno(failed, "start", argv.at(0));
  process.pidfd = open_pidfd(child);
  return process;
}

}  // namespace nkigrid::proc
