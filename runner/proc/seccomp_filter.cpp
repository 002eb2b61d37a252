#include "runner/proc/seccomp_filter.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <memory>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/proc/shared_memory.hpp"

namespace nkigrid::proc {
namespace {

/// Stands for the child's own process number until install() knows it; larger than any real one (2^22).
constexpr std::uint32_t kOwnProcess = 0x7e11f00d;

using Context = std::unique_ptr<void, decltype(&seccomp_release)>;

// Computing, own memory, descriptors that are there already, time, own signals, leaving.
constexpr std::array kAllowed = {SCMP_SYS(read),
                                 SCMP_SYS(write),
                                 SCMP_SYS(readv),
                                 SCMP_SYS(writev),
                                 SCMP_SYS(pread64),
                                 SCMP_SYS(close),
                                 SCMP_SYS(fstat),
                                 SCMP_SYS(lseek),
                                 SCMP_SYS(mmap),
                                 SCMP_SYS(mprotect),
                                 SCMP_SYS(munmap),
                                 SCMP_SYS(mremap),
                                 SCMP_SYS(brk),
                                 SCMP_SYS(madvise),
                                 SCMP_SYS(poll),
                                 SCMP_SYS(ppoll),
                                 SCMP_SYS(select),
                                 SCMP_SYS(pselect6),
                                 SCMP_SYS(recvmsg),
                                 SCMP_SYS(dup),
                                 SCMP_SYS(futex),
                                 SCMP_SYS(sched_yield),
                                 SCMP_SYS(sched_getaffinity),
                                 SCMP_SYS(getcpu),
                                 SCMP_SYS(membarrier),
                                 SCMP_SYS(rseq),
                                 SCMP_SYS(set_robust_list),
                                 SCMP_SYS(get_robust_list),
                                 SCMP_SYS(clock_gettime),
                                 SCMP_SYS(clock_getres),
                                 SCMP_SYS(clock_nanosleep),
                                 SCMP_SYS(nanosleep),
                                 SCMP_SYS(gettimeofday),
                                 SCMP_SYS(time),
                                 SCMP_SYS(times),
                                 SCMP_SYS(getrusage),
                                 SCMP_SYS(getrandom),
                                 SCMP_SYS(getpid),
                                 SCMP_SYS(gettid),
                                 SCMP_SYS(getppid),
                                 SCMP_SYS(getuid),
                                 SCMP_SYS(geteuid),
                                 SCMP_SYS(getgid),
                                 SCMP_SYS(getegid),
                                 SCMP_SYS(uname),
                                 SCMP_SYS(sysinfo),
                                 SCMP_SYS(rt_sigaction),
                                 SCMP_SYS(rt_sigprocmask),
                                 SCMP_SYS(rt_sigreturn),
                                 SCMP_SYS(sigaltstack),
                                 SCMP_SYS(restart_syscall),
                                 SCMP_SYS(exit),
                                 SCMP_SYS(exit_group)};
// What an interpreter that reads its library needs more. stat() is not opening: it tells whether a file exists, not
// what it holds.
constexpr std::array kAllowedForPython = {
    SCMP_SYS(stat),      SCMP_SYS(lstat),    SCMP_SYS(newfstatat), SCMP_SYS(statx),  SCMP_SYS(access),
    SCMP_SYS(faccessat), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(getcwd), SCMP_SYS(getdents64)};
constexpr std::array kAllowedForEngine = {SCMP_SYS(sendmsg)};

// Other processes and the kernel's own doors: nobody that runs behind these walls needs them.
constexpr std::array kDoors = {SCMP_SYS(ptrace),
                               SCMP_SYS(process_vm_readv),
                               SCMP_SYS(process_vm_writev),
                               SCMP_SYS(process_madvise),
                               SCMP_SYS(pidfd_getfd),
                               SCMP_SYS(kcmp),
                               SCMP_SYS(mount),
                               SCMP_SYS(umount2),
                               SCMP_SYS(pivot_root),
                               SCMP_SYS(chroot),
                               SCMP_SYS(fsopen),
                               SCMP_SYS(open_tree),
                               SCMP_SYS(move_mount),
                               SCMP_SYS(unshare),
                               SCMP_SYS(setns),
                               SCMP_SYS(bpf),
                               SCMP_SYS(perf_event_open),
                               SCMP_SYS(keyctl),
                               SCMP_SYS(add_key),
                               SCMP_SYS(request_key),
                               SCMP_SYS(io_uring_setup),
                               SCMP_SYS(userfaultfd),
                               SCMP_SYS(init_module),
                               SCMP_SYS(finit_module),
                               SCMP_SYS(kexec_load),
                               SCMP_SYS(reboot),
                               SCMP_SYS(swapon),
                               SCMP_SYS(open_by_handle_at),
                               SCMP_SYS(name_to_handle_at)};

// Acts that no honest kernel does. Each ends the process with SIGSYS, which the server sees; so does each door.
constexpr std::array kDenied = {SCMP_SYS(socket),
                                SCMP_SYS(socketpair),
                                SCMP_SYS(connect),
                                SCMP_SYS(bind),
                                SCMP_SYS(listen),
                                SCMP_SYS(accept),
                                SCMP_SYS(accept4),
                                SCMP_SYS(execve),
                                SCMP_SYS(execveat),
                                SCMP_SYS(pidfd_open),
                                SCMP_SYS(pidfd_send_signal),
                                SCMP_SYS(rt_sigqueueinfo),
                                SCMP_SYS(rt_tgsigqueueinfo),
                                SCMP_SYS(tkill),
                                SCMP_SYS(creat),
                                SCMP_SYS(truncate),
                                SCMP_SYS(ftruncate),
                                SCMP_SYS(rename),
                                SCMP_SYS(renameat),
                                SCMP_SYS(renameat2),
                                SCMP_SYS(unlink),
                                SCMP_SYS(unlinkat),
                                SCMP_SYS(rmdir),
                                SCMP_SYS(mkdir),
                                SCMP_SYS(mkdirat),
                                SCMP_SYS(link),
                                SCMP_SYS(linkat),
                                SCMP_SYS(symlink),
                                SCMP_SYS(symlinkat),
                                SCMP_SYS(mknod),
                                SCMP_SYS(mknodat),
                                SCMP_SYS(chmod),
                                SCMP_SYS(fchmod),
                                SCMP_SYS(fchmodat),
                                SCMP_SYS(chown),
                                SCMP_SYS(fchown),
                                SCMP_SYS(lchown),
                                SCMP_SYS(fchownat),
                                SCMP_SYS(utime),
                                SCMP_SYS(utimes),
                                SCMP_SYS(futimesat),
                                SCMP_SYS(utimensat),
                                SCMP_SYS(setxattr),
                                SCMP_SYS(lsetxattr),
                                SCMP_SYS(fsetxattr),
                                SCMP_SYS(removexattr),
                                SCMP_SYS(lremovexattr),
                                SCMP_SYS(fremovexattr),
                                SCMP_SYS(setuid),
                                SCMP_SYS(setgid),
                                SCMP_SYS(capset)};

// fcntl and ioctl are many calls in one. Some of them have the kernel signal whom the caller names, take leases, or
// change what a file is: those are acts. What an interpreter asks of its own descriptors is allowed, the rest refused.
constexpr std::array<int, 5> kAllowedFcntl = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL};
constexpr std::array<int, 5> kDeniedFcntl = {F_SETOWN, F_SETOWN_EX, F_SETSIG, F_SETLEASE, F_NOTIFY};
constexpr std::array<unsigned long, 4> kAllowedIoctl = {TCGETS, TIOCGWINSZ, FIOCLEX, FIONCLEX};
constexpr std::array<unsigned long, 8> kDeniedIoctl = {
    FIOSETOWN, SIOCSPGRP, FIOASYNC, TIOCSTI, TIOCSPGRP, FS_IOC_SETFLAGS, FS_IOC_SETVERSION, FS_IOC_FSSETXATTR};

void check(int result, const char* what) {
  if (result != 0) throw Error(ErrorCode::external, fmt::format("libseccomp cannot {} (error {})", what, -result));
}

/// One action for each of the calls. @param what the words of an error
template <std::size_t N>
void add_calls(void* context, std::uint32_t action, const std::array<int, N>& calls, const char* what) {
  for (const int call : calls) check(seccomp_rule_add(context, action, call, 0), what);
}

/// Signals to oneself end in abort() and raise(); to anybody else they are an act.
void add_signal_rules(void* context) {
  for (const int call : {SCMP_SYS(kill), SCMP_SYS(tgkill)}) {
    check(seccomp_rule_add(context, SCMP_ACT_ALLOW, call, 1, SCMP_A0(SCMP_CMP_EQ, kOwnProcess)), "allow own signals");
    check(seccomp_rule_add(context, SCMP_ACT_KILL_PROCESS, call, 1, SCMP_A0(SCMP_CMP_NE, kOwnProcess)), "deny signals");
  }
}

/// Opening for writing is an act; for reading it is allowed in the python profile. openat2 hides its flags behind a
/// pointer: it stays with the default.
void add_open_rules(void* context, SandboxProfile profile) {
  constexpr std::uint64_t kWriting = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
  const struct {
    int call;
    unsigned flags;
  } calls[] = {{SCMP_SYS(open), 1}, {SCMP_SYS(openat), 2}};
  for (const auto& [call, flags] : calls) {
    for (std::uint64_t bit = 1; bit <= kWriting; bit <<= 1) {
      if ((kWriting & bit) == 0) continue;
      check(seccomp_rule_add(context, SCMP_ACT_KILL_PROCESS, call, 1, SCMP_CMP(flags, SCMP_CMP_MASKED_EQ, bit, bit)),
            "deny writing");
    }
    if (profile != SandboxProfile::python) continue;
    check(seccomp_rule_add(context, SCMP_ACT_ALLOW, call, 1, SCMP_CMP(flags, SCMP_CMP_MASKED_EQ, kWriting, 0)),
          "allow reading");
  }
}

/// The kernel looks at the low 32 bits of a command: so do the denials. An allowed one must be given as it is.
void add_command_rules(void* context, int call, std::uint64_t command, std::uint32_t action, const char* what) {
  const auto compared = action == SCMP_ACT_ALLOW ? SCMP_A1(SCMP_CMP_EQ, command)
                                                 : SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffULL, command & 0xffffffffULL);
  check(seccomp_rule_add(context, action, call, 1, compared), what);
}

/// Commands on descriptors that reach beyond the process. @param denial what becomes of who tries
void add_descriptor_denials(void* context, std::uint32_t denial) {
  for (const int command : kDeniedFcntl)
    add_command_rules(context, SCMP_SYS(fcntl), static_cast<std::uint64_t>(command), denial, "deny a file command");
  for (const unsigned long command : kDeniedIoctl)
    add_command_rules(context, SCMP_SYS(ioctl), command, denial, "deny a device command");
  check(seccomp_rule_add(context, denial, SCMP_SYS(fcntl), 2, SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffULL, F_SETFL),
                         SCMP_A2(SCMP_CMP_MASKED_EQ, O_ASYNC, O_ASYNC)),
        "deny signals of descriptors");
}

void add_descriptor_rules(void* context, SandboxProfile profile) {
  add_descriptor_denials(context, SCMP_ACT_KILL_PROCESS);
  for (const int command : kAllowedFcntl)
    add_command_rules(context, SCMP_SYS(fcntl), static_cast<std::uint64_t>(command), SCMP_ACT_ALLOW, "allow a command");
  check(seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 2, SCMP_A1(SCMP_CMP_EQ, F_SETFL),
                         SCMP_A2(SCMP_CMP_MASKED_EQ, O_ASYNC, 0)),
        "allow a command");
  if (profile != SandboxProfile::python) return;
  for (const unsigned long command : kAllowedIoctl)
    add_command_rules(context, SCMP_SYS(ioctl), command, SCMP_ACT_ALLOW, "allow a command");
}

std::vector<sock_filter> export_program(void* context) {
  const Fd memory(::memfd_create("seccomp", MFD_CLOEXEC));
  if (!memory) throw_errno(errno, "make shared memory");
  check(seccomp_export_bpf(context, memory.get()), "write its filter");
  std::vector<sock_filter> program(file_size(memory.get()) / sizeof(sock_filter));
  const auto size = static_cast<ssize_t>(program.size() * sizeof(sock_filter));
  if (::pread(memory.get(), program.data(), static_cast<std::size_t>(size), 0) != size)
    throw_errno(errno, "read the filter");
  return program;
}

}  // namespace

bool has_seccomp() noexcept {
  const std::uint32_t action = SECCOMP_RET_KILL_PROCESS;
  return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

SeccompFilter::SeccompFilter(SandboxProfile profile) {
  if (profile == SandboxProfile::program) {
    const Context refusing(seccomp_init(SCMP_ACT_ALLOW), &seccomp_release);
    if (!refusing) throw Error(ErrorCode::external, "libseccomp cannot start a filter");
    check(seccomp_attr_set(refusing.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS),
          "deny foreign system calls");
    // A foreign program is refused the network (a pair of sockets is none) and the doors.
    add_calls(refusing.get(), SCMP_ACT_ERRNO(EPERM), std::array{SCMP_SYS(socket)}, "refuse a call");
    add_calls(refusing.get(), SCMP_ACT_ERRNO(EPERM), kDoors, "refuse a call");
    add_descriptor_denials(refusing.get(), SCMP_ACT_ERRNO(EPERM));
    program_ = export_program(refusing.get());
    return;
  }
  const Context context(seccomp_init(SCMP_ACT_ERRNO(EPERM)), &seccomp_release);
  if (!context) throw Error(ErrorCode::external, "libseccomp cannot start a filter");
  check(seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "deny foreign system calls");
  // A binary tree over the call numbers instead of a list: a few comparisons a call.
  check(seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2), "sort its rules");
  add_calls(context.get(), SCMP_ACT_ALLOW, kAllowed, "allow a call");
  if (profile == SandboxProfile::python)
    add_calls(context.get(), SCMP_ACT_ALLOW, kAllowedForPython, "allow a call");
  else
    add_calls(context.get(), SCMP_ACT_ALLOW, kAllowedForEngine, "allow a call");
  add_calls(context.get(), SCMP_ACT_KILL_PROCESS, kDenied, "deny a call");
  add_calls(context.get(), SCMP_ACT_KILL_PROCESS, kDoors, "deny a call");
  // Neither threads nor children; a library that tries is told that there is no room.
  constexpr std::array kChildren = {SCMP_SYS(clone), SCMP_SYS(clone3), SCMP_SYS(fork), SCMP_SYS(vfork)};
  add_calls(context.get(), SCMP_ACT_ERRNO(EAGAIN), kChildren, "deny children");
  check(seccomp_rule_add(context.get(), SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, SCMP_A2(SCMP_CMP_EQ, 0)),
        "allow a call");
  add_signal_rules(context.get());
  add_descriptor_rules(context.get(), profile);
  add_open_rules(context.get(), profile);
  program_ = export_program(context.get());
  for (std::size_t i = 0; i < program_.size(); ++i) {
    if (BPF_CLASS(program_[i].code) == BPF_JMP && program_[i].k == kOwnProcess) own_process_places_.push_back(i);
  }
  if (own_process_places_.empty()) throw Error(ErrorCode::internal, "the filter does not mention the process itself");
}

SeccompFilter::~SeccompFilter() = default;
SeccompFilter::SeccompFilter(SeccompFilter&&) noexcept = default;
SeccompFilter& SeccompFilter::operator=(SeccompFilter&&) noexcept = default;

bool SeccompFilter::install(pid_t self) const noexcept {
  auto program = program_;
  for (const auto place : own_process_places_) program[place].k = static_cast<std::uint32_t>(self);
  sock_fprog whole{static_cast<unsigned short>(program.size()), program.data()};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &whole) == 0;
}

}  // namespace nkigrid::proc
