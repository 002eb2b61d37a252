#include "runner/proc/sandbox.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "jobs/base/error.hpp"
#include "runner/proc/frame.hpp"
#include "runner/proc/landlock.hpp"
#include "runner/proc/namespaces.hpp"
#include "runner/proc/spawn.hpp"

namespace nkigrid::proc {
namespace {

/// Does `act` inside the sandbox in a child. @returns how the child ended
ChildEnd inside(SandboxProfile profile, const std::function<int()>& act, const SandboxLimits& limits = {}) {
  const std::array<std::filesystem::path, 1> readable = {"/usr/lib"};
  const Sandbox sandbox(profile, SandboxLevel::strict, readable);
  const pid_t pid = ::fork();
  if (pid == 0) {
    try {
      sandbox.enter(limits, {});
    } catch (const Error&) {
      ::_exit(99);
    }
    ::_exit(act());
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return from_wait_status(status);
}

testing::AssertionResult is_denied(const ChildEnd& end) {
  const auto* signaled = std::get_if<Signaled>(&end);
  if (signaled != nullptr && signaled->signal == SIGSYS) return testing::AssertionSuccess();
  return testing::AssertionFailure() << describe(end);
}

/// Exit status of an act whose call is refused with an error number.
int error_of(long result) { return result < 0 ? errno : 0; }

constexpr auto kPython = SandboxProfile::python;
constexpr auto kEngine = SandboxProfile::engine;

TEST(Sandbox, ThisMachineHasAllOfStrict) { EXPECT_THAT(missing_sandbox_parts(), testing::IsEmpty()); }

TEST(Sandbox, SocketsAreAnAct) {
  EXPECT_TRUE(is_denied(inside(kPython, [] { return ::socket(AF_INET, SOCK_STREAM, 0); })));
  EXPECT_TRUE(is_denied(inside(kEngine, [] { return ::socket(AF_UNIX, SOCK_STREAM, 0); })));
}

TEST(Sandbox, ExecIsAnAct) {
  EXPECT_TRUE(is_denied(inside(kPython, [] { return ::execl("/bin/true", "true", nullptr); })));
}

TEST(Sandbox, PtraceAndForeignMemoryAreActs) {
  EXPECT_TRUE(is_denied(inside(kPython, [] { return static_cast<int>(::ptrace(PTRACE_ATTACH, ::getppid(), 0, 0)); })));
  EXPECT_TRUE(is_denied(
      inside(kPython, [] { return static_cast<int>(::syscall(SYS_process_vm_readv, ::getppid(), 0, 0, 0, 0, 0)); })));
}

TEST(Sandbox, SignalsToOthersAreAnActToOneselfNot) {
  EXPECT_TRUE(is_denied(inside(kPython, [] { return ::kill(::getppid(), 0); })));
  EXPECT_TRUE(is_denied(inside(kPython, [] { return ::kill(-1, SIGTERM); })));
  EXPECT_TRUE(is_denied(inside(kPython, [] { return ::kill(0, SIGTERM); })));
  const auto end = inside(kPython, [] {
    std::abort();
    return 0;
  });
  EXPECT_EQ(std::get<Signaled>(end).signal, SIGABRT);
}

TEST(Sandbox, EveryWayOfOpeningForWritingIsAnAct) {
  for (const int flags : {O_WRONLY, O_RDWR, O_RDONLY | O_CREAT, O_RDONLY | O_TRUNC, O_TMPFILE | O_RDWR}) {
    EXPECT_TRUE(is_denied(inside(kPython, [flags] { return ::open("/tmp/nkigrid-sandbox-test", flags, 0600); })))
        << flags;
    EXPECT_TRUE(is_denied(inside(kEngine, [flags] {
      return static_cast<int>(::syscall(SYS_open, "/tmp/nkigrid-sandbox-test", flags, 0600));
    }))) << flags;
  }
  EXPECT_NE(::access("/tmp/nkigrid-sandbox-test", F_OK), 0);
}

TEST(Sandbox, ChangingTheFileSystemIsAnAct) {
  EXPECT_TRUE(is_denied(inside(kPython, [] { return ::unlink("/tmp/nothing"); })));
  EXPECT_TRUE(is_denied(inside(kPython, [] { return ::mkdir("/tmp/nkigrid-sandbox-test", 0700); })));
  EXPECT_TRUE(is_denied(inside(kPython, [] { return ::rename("/tmp/a", "/tmp/b"); })));
  EXPECT_TRUE(is_denied(inside(kPython, [] { return ::truncate("/tmp/a", 0); })));
}

TEST(Sandbox, PythonReadsItsLibraryAndNothingElse) {
  EXPECT_EQ(std::get<Exited>(inside(kPython, [] { return error_of(::open("/usr/lib/os-release", O_RDONLY)); })).status,
            0);
  EXPECT_EQ(std::get<Exited>(inside(kPython, [] { return error_of(::open("/etc/passwd", O_RDONLY)); })).status, EACCES);
  EXPECT_EQ(std::get<Exited>(inside(kPython, [] { return error_of(::open("/proc/self/maps", O_RDONLY)); })).status,
            EACCES);
}

TEST(Sandbox, EngineOpensNothing) {
  EXPECT_EQ(std::get<Exited>(inside(kEngine, [] { return error_of(::open("/usr/lib/os-release", O_RDONLY)); })).status,
            EPERM);
}

TEST(Sandbox, NeitherChildrenNorThreads) {
  EXPECT_EQ(std::get<Exited>(inside(kPython, [] { return error_of(::fork()); })).status, EAGAIN);
  EXPECT_EQ(std::get<Exited>(inside(kEngine, [] { return error_of(::vfork()); })).status, EAGAIN);
}

TEST(Sandbox, UnknownCallsAreRefusedQuietly) {
  EXPECT_EQ(std::get<Exited>(inside(kPython, [] { return error_of(::syscall(SYS_inotify_init1, 0)); })).status, EPERM);
}

TEST(Sandbox, NamespacesMountsAndKernelDoorsAreActs) {
  EXPECT_TRUE(is_denied(inside(kPython, [] { return static_cast<int>(::syscall(SYS_unshare, 0)); })));
  EXPECT_TRUE(is_denied(inside(kPython, [] { return static_cast<int>(::syscall(SYS_mount, 0, 0, 0, 0, 0)); })));
  EXPECT_TRUE(is_denied(inside(kPython, [] { return static_cast<int>(::syscall(SYS_bpf, 0, 0, 0)); })));
  EXPECT_TRUE(is_denied(inside(kPython, [] { return static_cast<int>(::syscall(SYS_io_uring_setup, 1, 0)); })));
}

TEST(Sandbox, DescriptorsOfTheServerAreClosed) {
  const int leaked = ::open("/usr/lib/os-release", O_RDONLY);
  const auto end = inside(kPython, [leaked] {
    char c = 0;
    return error_of(::read(leaked, &c, 1));
  });
  ::close(leaked);
  EXPECT_EQ(std::get<Exited>(end).status, EBADF);
}

TEST(Sandbox, MemoryHasALimit) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer maps terabytes";
#endif
  const auto end = inside(
      kPython,
      [] {
        return ::mmap(nullptr, 3ULL << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno : 0;
      },
      {2ULL << 30, 0});
  EXPECT_EQ(std::get<Exited>(end).status, ENOMEM);
}

TEST(Sandbox, CapabilitiesAreGone) {
  // Root without capabilities cannot read what belongs to nobody's group alone, nor become somebody else.
  EXPECT_TRUE(is_denied(inside(kPython, [] { return ::setuid(0); })));
  EXPECT_NE(std::get<Exited>(inside(kPython, [] { return error_of(::syscall(SYS_sethostname, "x", 1)); })).status, 0);
}

TEST(Sandbox, NoDescriptorCommandSignalsOrLeases) {
  struct Case {
    int command;
    long argument;
  };
  for (const auto& [command, argument] :
       {Case{F_SETOWN, 1}, Case{F_SETSIG, SIGKILL}, Case{F_NOTIFY, 1}, Case{F_SETLEASE, F_RDLCK},
        Case{F_SETFL, O_ASYNC}, Case{F_SETFL, O_ASYNC | O_NONBLOCK}, Case{F_SETOWN_EX, 0}}) {
    for (const auto profile : {kPython, kEngine}) {
      EXPECT_TRUE(is_denied(inside(profile, [=] { return ::fcntl(0, command, argument); }))) << command;
      // The kernel looks at 32 bits of the command; a filter that looks at 64 would not know it.
      EXPECT_TRUE(is_denied(inside(profile, [=] {
        return static_cast<int>(::syscall(SYS_fcntl, 0, (1L << 32) | command, argument));
      }))) << command;
    }
  }
}

TEST(Sandbox, NoDeviceCommandSignalsOrChangesAFile) {
  for (const unsigned long command : {static_cast<unsigned long>(FIOSETOWN), static_cast<unsigned long>(SIOCSPGRP),
                                      static_cast<unsigned long>(FIOASYNC), static_cast<unsigned long>(TIOCSTI),
                                      FS_IOC_SETVERSION, FS_IOC_SETFLAGS}) {
    int value = 1;
    EXPECT_TRUE(is_denied(inside(kPython, [&] { return ::ioctl(0, command, &value); }))) << command;
    EXPECT_TRUE(is_denied(inside(kEngine, [&] {
      return static_cast<int>(::syscall(SYS_ioctl, 0, (1UL << 32) | command, &value));
    }))) << command;
  }
}

TEST(Sandbox, CommandsThatNobodyListedAreRefusedQuietlyThoseOfAnInterpreterWork) {
  EXPECT_EQ(std::get<Exited>(inside(kPython, [] { return error_of(::fcntl(0, F_SETPIPE_SZ, 4096)); })).status, EPERM);
  EXPECT_EQ(std::get<Exited>(inside(kPython, [] { return error_of(::fcntl(0, F_GETOWN)); })).status, EPERM);
  EXPECT_EQ(std::get<Exited>(inside(kPython, [] { return error_of(::ioctl(0, FIONREAD, nullptr)); })).status, EPERM);
  EXPECT_EQ(std::get<Exited>(inside(kEngine, [] { return error_of(::ioctl(0, TCGETS, nullptr)); })).status, EPERM);
  EXPECT_EQ(std::get<Exited>(inside(kPython, [] { return error_of(::fcntl(0, F_SETFL, O_NONBLOCK)); })).status, 0);
  EXPECT_EQ(std::get<Exited>(inside(kPython, [] { return error_of(::fcntl(0, F_DUPFD_CLOEXEC, 10)); })).status, 0);
  EXPECT_EQ(std::get<Exited>(inside(kPython, [] { return error_of(::ioctl(0, FIOCLEX)); })).status, 0);
}

TEST(Sandbox, MetadataIsAnAct) {
  EXPECT_TRUE(is_denied(inside(kPython, [] { return ::utimensat(AT_FDCWD, "/usr/lib/os-release", nullptr, 0); })));
  EXPECT_TRUE(is_denied(inside(kPython, [] { return ::fsetxattr(0, "user.a", "b", 1, 0); })));
  EXPECT_TRUE(is_denied(inside(kPython, [] { return ::removexattr("/usr/lib/os-release", "user.a"); })));
}

TEST(Sandbox, FileRulesAloneKeepSignalsInside) {
  if (landlock_version() < kLandlockOfSignals) GTEST_SKIP() << "this kernel's Landlock knows no signals";
  const auto rules = make_landlock_rules({});
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!apply_landlock(rules.get())) ::_exit(99);
    ::_exit(error_of(::kill(::getppid(), 0)));
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_EQ(std::get<Exited>(from_wait_status(status)).status, EPERM);
}

TEST(Sandbox, ChildOfRootIsAUserThatOwnsNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "who is no root stays who he is";
  const auto end =
      inside(kEngine, [] { return ::getuid() != 0 && ::getgid() != 0 && ::geteuid() == ::getuid() ? 0 : 1; });
  EXPECT_EQ(std::get<Exited>(end).status, 0);
}

/// Makes one system call fail with ENOSYS from now on, as on a kernel or in a container that lacks it.
void take_away(long call) {
  sock_filter program[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog whole{4, program};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &whole) != 0) ::_exit(98);
}

/// What a child says that cannot build a wall; "" when it went on without.
std::string words_without(const std::function<void()>& lose, const SandboxLimits& limits = {}) {
  const std::array<std::filesystem::path, 1> readable = {"/usr/lib"};
  const Sandbox sandbox(kPython, SandboxLevel::strict, readable);
  int said[2];
  if (::pipe(said) != 0) return "no pipe";
  const pid_t pid = ::fork();
  if (pid == 0) {
    lose();
    const std::array<int, 1> keep = {said[1]};
    try {
      sandbox.enter(limits, keep);
    } catch (const Error& error) {
      const std::string_view words = error.what();
      ::_exit(::write(said[1], words.data(), words.size()) < 0 ? 1 : 0);
    }
    ::_exit(0);
  }
  ::close(said[1]);
  std::string words(4096, '\0');
  const auto got = ::read(said[0], words.data(), words.size());
  ::close(said[0]);
  ::waitpid(pid, nullptr, 0);
  return words.substr(0, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
}

TEST(Sandbox, NoWallIsMissedInSilence) {
  const std::map<long, std::string> walls = {{SYS_setsid, "session"},
                                             {SYS_dup2, "streams"},
                                             {SYS_close_range, "close_range"},
                                             {SYS_prctl, "unreadable"},
                                             {SYS_prlimit64, "limit of memory"},
                                             {SYS_capset, "capabilities"},
                                             {SYS_seccomp, "seccomp"},
                                             {SYS_landlock_restrict_self, "Landlock"}};
  for (const auto& [call, part] : walls) {
    EXPECT_THAT(words_without([call = call] { take_away(call); }, {1ULL << 32, 0}), testing::HasSubstr(part));
  }
}

TEST(Sandbox, LimitOfASiteIsToldAsThat) {
  const auto words = words_without(
      [] {
        const rlimit site{1ULL << 32, 1ULL << 32};
        ::setrlimit(RLIMIT_AS, &site);
      },
      {1ULL << 34, 0});
  EXPECT_THAT(words, testing::AllOf(testing::HasSubstr("4096 MiB"), testing::HasSubstr("16384 MiB"),
                                    testing::HasSubstr("ulimit -v")));
}

TEST(Sandbox, EveryPropertyHasANamedProvider) {
  std::vector<std::string> names;
  for (const auto& property : sandbox_properties()) {
    names.push_back(property.name);
    EXPECT_THAT(property.providers, testing::Not(testing::IsEmpty())) << property.name;
  }
  EXPECT_THAT(names, testing::ElementsAre("files", "network", "processes and signals", "limits", "metadata"));
}

/// In a server that left its namespaces where it may. @returns its exit status, 77 where process numbers are not to be
/// left
int in_server(const std::function<int()>& act) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(leave_namespaces().processes ? act() : 77);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

TEST(Namespaces, ChildrenOfAServerSeeNoProcessOfTheMachine) {
  if (!namespaces_that_may_be_left().processes) GTEST_SKIP() << "this machine lets nobody leave its process numbers";
  const pid_t outside = ::getpid();
  EXPECT_EQ(in_server([outside] {
              const pid_t child = ::fork();
              if (child == 0) ::_exit(::getppid() == 0 && ::kill(outside, 0) != 0 && errno == ESRCH ? 0 : 1);
              int status = 0;
              ::waitpid(child, &status, 0);
              return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
            }),
            0);
}

TEST(Namespaces, ChildrenDieWithAServerThatIsKilled) {
  if (!namespaces_that_may_be_left().processes) GTEST_SKIP() << "this machine lets nobody leave its process numbers";
  int held[2];
  ASSERT_EQ(::pipe(held), 0);
  // The child holds the pipe's other end and asks for no signal at its parent's death: only its namespace ends it.
  in_server([&] {
    ::close(held[0]);
    if (::fork() == 0) {
      for (;;) ::pause();
    }
    return ::raise(SIGKILL);
  });
  ::close(held[1]);
  char byte = 0;
  EXPECT_TRUE(wait_readable(held[0], deadline_after(20)));
  EXPECT_EQ(::read(held[0], &byte, 1), 0);
  ::close(held[0]);
}

}  // namespace
}  // namespace nkigrid::proc
