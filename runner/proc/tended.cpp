#include "runner/proc/tended.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include <fmt/core.h>

#include "jobs/base/error.hpp"

namespace nkigrid::proc {
namespace {

std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<char*> raw;
  for (const auto& text : strings) raw.push_back(const_cast<char*>(text.c_str()));
  raw.push_back(nullptr);
  return raw;
}

/// In the child, until it is another program. What fails is told through `failure`.
[[noreturn]] void become(char* const* argv, char* const* environment, int output, pid_t parent, int failure) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it died before we asked to be told
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  const int nowhere = ::open("/dev/null", O_RDWR);
  if (nowhere >= 0 && ::dup2(nowhere, 0) >= 0 && ::dup2(output, 1) >= 0 && ::dup2(output, 2) >= 0)
    ::execve(argv[0], argv, environment);
  const int error = errno;
  [[maybe_unused]] const auto told = ::write(failure, &error, sizeof error);
  ::_exit(127);
}

/// @source proc_pid_task_children(5)
std::vector<pid_t> own_children() {
  std::ifstream file(fmt::format("/proc/self/task/{}/children", ::getpid()));
  std::vector<pid_t> children;
  for (pid_t child = 0; file >> child;) children.push_back(child);
  return children;
}

/// Every child, and every orphan that becomes one: each death hands us the next generation.
void kill_and_reap_all(pid_t but_for) {
  for (;;) {
    bool any = false;
    for (const auto child : own_children()) {
      if (child == but_for) continue;
      any = true;
      ::kill(child, SIGKILL);
      while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    if (!any) return;
  }
}

}  // namespace

void adopt_orphans() {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) throw_errno(errno, "adopt orphans (PR_SET_CHILD_SUBREAPER)");
}

Tended::Tended(const std::vector<std::string>& argv, const std::vector<std::string>& environment, const Fd& output) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno(errno, "make a pipe");
  const Fd failed(ends[0]);
  Fd failure(ends[1]);
  const auto words = pointers_to(argv), variables = pointers_to(environment);
  const auto parent = ::getpid();
  const auto child = ::fork();
  if (child < 0) throw_errno(errno, "fork");
  if (child == 0) become(words.data(), variables.data(), output.get(), parent, failure.get());
  process_.pid = child;
  failure = Fd();
  int error = 0;
  const bool told = ::read(failed.get(), &error, sizeof error) == sizeof error;  // its end: execve closed the other
  if (told) {
    reap(process_);
    ended_ = true;
    throw_errno(error, "start", argv.at(0));
  }
  process_.pidfd = open_pidfd(child);
}

Tended::~Tended() {
  try {
    if (!ended_) end(Seconds(0));
  } catch (const std::exception&) {
    // Its tender dies next, and the kernel ends it.
  }
}

ChildEnd Tended::end(Seconds grace) {
  if (grace.count() > 0) {
    ::kill(-process_.pid, SIGTERM);
    pollfd watched{process_.pidfd.get(), POLLIN, 0};
    ::poll(&watched, 1, static_cast<int>(grace.count() * 1000));
  }
  // Before the leader is reaped: until then its group's number cannot be anybody else's.
  ::kill(-process_.pid, SIGKILL);
  kill_and_reap_all(process_.pid);
  ended_ = true;
  const auto end = reap(process_);
  kill_and_reap_all(-1);
  return end;
}

}  // namespace nkigrid::proc
