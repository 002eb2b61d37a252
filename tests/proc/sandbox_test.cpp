#include "runner/proc/sandbox.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <variant>

#include "jobs/base/error.hpp"
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

}  // namespace
}  // namespace nkigrid::proc
