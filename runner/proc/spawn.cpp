#include "runner/proc/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "jobs/base/error.hpp"

namespace nkigrid::proc {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> raw;
  for (const auto& text : strings) raw.push_back(const_cast<char*>(text.c_str()));
  raw.push_back(nullptr);
  return raw;
}

/// posix_spawn's two option objects.
struct Options {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  Options() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~Options() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
};

/// A child starts with no ignored signal, whatever our own threads do with theirs, and with the stop signals blocked: a
/// batch system sends TERM or USR1 to every process of a job, and a compile that died of it would look like a kernel's
/// fault. What ends a child is its owner: SIGKILL, or the end of its socket.
void set_signals(posix_spawnattr_t& attributes, short& flags) {
  sigset_t blocked, all;
  sigemptyset(&blocked);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) sigaddset(&blocked, signal);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &blocked);
  posix_spawnattr_setsigdefault(&attributes, &all);
  flags |= POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
}

}  // namespace

Fd open_pidfd(pid_t pid) {
  Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!fd) throw_errno(errno, "watch a child (pidfd_open)");
  return fd;
}

Process spawn(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
              std::span<const DescriptorMap> descriptors, Group group) {
  Options options;
  short flags = group == Group::own_session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
  if (group == Group::own_group) posix_spawnattr_setpgroup(&options.attributes, 0);
  set_signals(options.attributes, flags);
  posix_spawnattr_setflags(&options.attributes, flags);
  // Through numbers that no target uses, so that one copy cannot overwrite the source of the next.
  constexpr int kAway = 900;
  for (std::size_t i = 0; i < descriptors.size(); ++i) {
    posix_spawn_file_actions_adddup2(&options.actions, descriptors[i].ours, kAway + static_cast<int>(i));
  }
  // Nothing of a child reaches our own terminal by accident: its streams lead nowhere unless `descriptors` says
  // otherwise.
  for (int fd = 0; fd < 3; ++fd) posix_spawn_file_actions_addopen(&options.actions, fd, "/dev/null", O_RDWR, 0);
  for (std::size_t i = 0; i < descriptors.size(); ++i) {
    posix_spawn_file_actions_adddup2(&options.actions, kAway + static_cast<int>(i), descriptors[i].child);
    posix_spawn_file_actions_addclose(&options.actions, kAway + static_cast<int>(i));
  }
  Process process;
  const int error = ::posix_spawn(&process.pid, argv.at(0).c_str(), &options.actions, &options.attributes,
                                  pointers(argv).data(), pointers(environment).data());
  if (error != 0) throw_errno(error, "start", argv[0]);
  process.pidfd = open_pidfd(process.pid);
  return process;
}

ChildEnd from_wait_status(int status) noexcept {
  if (WIFSIGNALED(status)) return Signaled{WTERMSIG(status)};
  return Exited{WEXITSTATUS(status)};
}

ChildEnd reap(const Process& process) {
  int status = 0;
  while (::waitpid(process.pid, &status, 0) < 0) {
    if (errno != EINTR) throw_errno(errno, "wait for a child");
  }
  return from_wait_status(status);
}

std::vector<std::string> numeric_environment() {
  std::vector<std::string> kept = {"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with("OMP_NUM_THREADS=") || text.starts_with("OPENBLAS_NUM_THREADS=")) continue;
    if (text.starts_with("OPENBLAS_") || text.starts_with("OMP_")) kept.emplace_back(text);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

}  // namespace nkigrid::proc
