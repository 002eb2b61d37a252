// nkigrid_confine: runs a whole foreign program (a vendor's compiler with children of its own) inside walls, and leaves
// nobody behind.
//
// usage: nkigrid_confine strict|relaxed [--read PATH]... [--write PATH]... -- PROGRAM [ARGUMENT]...
//        nkigrid_confine open [--in FOLDER] [--signals through] [--scratch FOLDER] -- PROGRAM [ARGUMENT]...
//            no walls: a user's or a site's own program, found on PATH, started in FOLDER; the scratch folder goes when
//            nkigrid dies before the program ends
//        nkigrid_confine --lacks    prints what `strict` needs and this machine lacks, a line each
//
// Descriptor 3 goes to the program, descriptor 4 is a lifeline: on it, where it is a socket, nkigrid is told whether
// the program could be started (an int: 0, or errno), and when its other end closes or says a word, the program and all
// it started are killed. It ends as the program ended. Walls: docs/decisions/sandbox.md.
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "jobs/base/error.hpp"
#include "runner/proc/end_descendants.hpp"
#include "runner/proc/landlock.hpp"
#include "runner/proc/must.hpp"
#include "runner/proc/sandbox.hpp"
#include "runner/proc/seccomp_filter.hpp"
#include "runner/proc/spawn.hpp"

namespace {

namespace fs = std::filesystem;
namespace proc = nkigrid::proc;
using nkigrid::Error;
using nkigrid::ErrorCode;
using nkigrid::Fd;
using proc::must;

constexpr int kWork = 3, kLifeline = 4, kRefused = 127;
constexpr rlim_t kMostFileBytes = 8ULL << 30;

struct Order {
  bool strict = true, walls = true;
  bool hears_signals = false;  ///< an open program; one behind walls always does
  fs::path folder;             ///< where the program starts; "": here
  fs::path scratch;            ///< removed when nkigrid dies before the program ends; "": none
  std::vector<fs::path> readable, writable;
  std::vector<char*> program;  // ends with null
};

Order parse(int argc, char** argv) {
  Order order;
  order.strict = argc > 1 && std::string_view(argv[1]) == "strict";
  order.walls = argc < 2 || std::string_view(argv[1]) != "open";
  int at = 2;
  for (; at + 1 < argc && std::string_view(argv[at]) != "--"; at += 2) {
    const std::string_view word = argv[at];
    if (word == "--in")
      order.folder = argv[at + 1];
    else if (word == "--scratch")
      order.scratch = argv[at + 1];
    else if (word == "--signals")
      order.hears_signals = true;
    else if (word == "--read" || word == "--write")
      (word == "--read" ? order.readable : order.writable).emplace_back(argv[at + 1]);
    else
      throw Error(ErrorCode::usage, "nkigrid_confine: an unknown option");
  }
  for (++at; at < argc; ++at) order.program.push_back(argv[at]);
  if (order.program.empty()) throw Error(ErrorCode::usage, "nkigrid_confine: no program");
  order.program.push_back(nullptr);
  return order;
}

void write_text(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text;
}

/// Own process numbers, no network, own mounts: as root, else through a user namespace where the system lets users have
/// one.
/// @returns false when this machine allows neither
bool enter_namespaces() {
  constexpr int kWalls = CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWNS;
  if (::unshare(kWalls) == 0) return true;
  const auto user = ::geteuid(), group = ::getegid();
  if (::unshare(CLONE_NEWUSER | kWalls) != 0) return false;
  // The same numbers inside: files belong to whom they belonged.
  write_text("/proc/self/setgroups", "deny");
  write_text("/proc/self/uid_map", std::to_string(user) + " " + std::to_string(user) + " 1");
  write_text("/proc/self/gid_map", std::to_string(group) + " " + std::to_string(group) + " 1");
  return true;
}

/// A shared-memory folder of its own, which a compiler's worker processes may need. @returns true when it is there
bool mount_own_shared_memory() {
  // Nobody outside may see what is mounted here. In a changed root "/" is no mount point: then the folder's own mount
  // is taken out.
  const bool ours = ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ||
                    ::mount(nullptr, "/dev/shm", nullptr, MS_PRIVATE, nullptr) == 0;
  return ours && ::mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "size=2g") == 0;
}

/// The last steps before the program: nothing here can be undone. @throws Error when a step of `strict` fails
void close_walls(const Order& order, bool own_shared_memory) {
  auto writable = order.writable;
  writable.emplace_back("/dev/null");
  if (own_shared_memory) writable.emplace_back("/dev/shm");
  std::optional<Fd> rules;
  if (proc::landlock_version() > 0) rules = proc::make_landlock_program_rules(order.readable, writable);
  const rlimit none{0, 0}, most{kMostFileBytes, kMostFileBytes};
  must(::setrlimit(RLIMIT_CORE, &none) == 0, "forbid core files");
  must(::setrlimit(RLIMIT_FSIZE, &most) == 0, "limit the size of files");
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct nothing[2] = {};
  must(::syscall(SYS_capset, &header, nothing) == 0, "drop capabilities");
  must(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "give up new privileges");
  if (rules) must(proc::apply_landlock(rules->get()) || !order.strict, "bind the file rules");
  if (proc::has_seccomp())
    must(proc::SeccompFilter(proc::SandboxProfile::program).install(::getpid()) || !order.strict,
         "install the system call filter");
}

constexpr std::array kStopSignals = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};

/// We were started with the stop signals blocked.
void let_signals_through() {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// What goes to the whole group is not for us: who hears it decides when it ends.
void answer_stop_signals(void (*how)(int)) {
  for (const int signal : kStopSignals) ::signal(signal, how);
}

/// @param parent it ends with this one @param started told why the program could not be started; closed by its start
[[noreturn]] void run_program(const Order& order, bool own_shared_memory, pid_t parent, int started) {
  try {
    must(::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "be ended with the keeper");
    if (::getppid() != parent) ::_exit(kRefused);  // it died before we asked to be told
    answer_stop_signals(SIG_DFL);
    if (!order.folder.empty()) fs::current_path(order.folder);
    if (order.walls) close_walls(order, own_shared_memory);
    // A compiler ends workers of its own with them.
    if (order.walls || order.hears_signals) let_signals_through();
    // An open program: also whatever was left to us by those who started nkigrid. `started` closes by itself.
    must(order.walls || (::close_range(kWork, started - 1, 0) == 0 && ::close_range(started + 1, ~0U, 0) == 0),
         "close descriptors (close_range, Linux 5.9)");
    (order.walls ? ::execv : ::execvp)(order.program[0], order.program.data());
    const int error = errno;
    static_cast<void>(!::write(started, &error, sizeof error));
    throw Error(ErrorCode::external, std::string("cannot start ") + order.program[0] + ": " + std::strerror(error));
  } catch (const std::exception& error) {
    ::dprintf(2, "%s\n", error.what());
    ::_exit(kRefused);
  }
}

/// What first and keeper say to each other.
struct Pipe {
  std::array<int, 2> ends{};
  Pipe() { must(::pipe2(ends.data(), O_CLOEXEC) == 0, "make a pipe"); }
};

/// Process 1 of the namespace, or the parent of all orphans without one: waits for the program, tells how it ended,
/// goes. Where process numbers are its own, everybody left behind goes with it.
[[noreturn]] void be_first(const Order& order, bool own_shared_memory, int report, int started) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A parent that ended before that sends nothing: nobody holds the other end of our report then.
  pollfd parent{report, 0, 0};
  if (::poll(&parent, 1, 0) != 0) ::_exit(1);
  const pid_t own = ::getpid(), program = ::fork();
  if (program == 0) run_program(order, own_shared_memory, own, started);
  ::close(kWork);
  ::close(started);
  int status = 0;
  for (pid_t ended = 0; ended != program;) {
    ended = ::waitpid(-1, &status, 0);
    if (ended < 0 && errno != EINTR) ::_exit(1);
  }
  static_cast<void>(!::write(report, &status, sizeof status));
  ::_exit(0);
}

/// Ends as the program ended.
[[noreturn]] void end_as(int status) {
  if (WIFSIGNALED(status)) {
    let_signals_through();
    ::signal(WTERMSIG(status), SIG_DFL);
    ::raise(WTERMSIG(status));
  }
  ::_exit(WEXITSTATUS(status));
}

/// Tells nkigrid whether the program is one: 0, or why it could not be started.
void tell_start(int started) {
  int error = 0;  // nothing comes: its start closed the other end
  while (::read(started, &error, sizeof error) < 0 && errno == EINTR) {
  }
  static_cast<void>(::send(kLifeline, &error, sizeof error, MSG_NOSIGNAL));
}

/// Whether nkigrid let go of us without a word: it closed its end, or died before it had read what we told it.
bool is_alone() {
  char word = 0;
  ssize_t got = -1;
  while ((got = ::recv(kLifeline, &word, 1, MSG_DONTWAIT)) < 0 && errno == EINTR) {
  }
  return got == 0 || (got < 0 && errno == ECONNRESET);
}

/// Waits until the program has ended or we are to go, and leaves no orphan unreaped meanwhile.
/// @returns whether it is the program
bool wait_for_end(int report, pid_t first) {
  // After the fork: nobody else is started with this signal blocked.
  sigset_t child_ends;
  ::sigemptyset(&child_ends);
  ::sigaddset(&child_ends, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child_ends, nullptr);
  const Fd ends(::signalfd(-1, &child_ends, SFD_CLOEXEC | SFD_NONBLOCK));
  std::array<pollfd, 3> watched = {{{report, POLLIN, 0}, {kLifeline, POLLIN, 0}, {ends.get(), POLLIN, 0}}};
  while (watched[0].revents == 0 && watched[1].revents == 0) {
    proc::reap_orphans(first);
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;
    signalfd_siginfo one{};
    while (watched[2].revents != 0 && ::read(ends.get(), &one, sizeof one) > 0) {
    }
  }
  return watched[0].revents != 0;
}

int confine(const Order& order) {
  // Without process numbers of its own the program must be outlived: then the lifeline alone says that we are to go.
  if (order.walls) must(::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "be ended with nkigrid");
  must(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0, "own every process that the program leaves behind");
  const bool own_numbers = order.walls && enter_namespaces();
  must(own_numbers || !order.strict, "have process numbers of its own (a PID namespace)");
  const bool own_shared_memory = own_numbers && mount_own_shared_memory();
  answer_stop_signals(SIG_IGN);
  const Pipe report, started;
  const pid_t first = ::fork();
  must(first >= 0, "fork");
  if (first == 0) {
    ::close(kLifeline);
    ::close(report.ends[0]);
    ::close(started.ends[0]);
    be_first(order, own_shared_memory, report.ends[1], started.ends[1]);
  }
  ::close(report.ends[1]);
  ::close(started.ends[1]);
  ::close(kWork);
  tell_start(started.ends[0]);
  const bool has_ended = wait_for_end(report.ends[0], first);
  int status = SIGKILL;  // as if the program had been killed
  if (has_ended && ::read(report.ends[0], &status, sizeof status) != sizeof status) status = SIGKILL;
  if (own_numbers) ::kill(first, SIGKILL);  // and the kernel kills all at once
  if (const auto left = proc::end_descendants(); left > 0)
    ::dprintf(2, "nkigrid_confine: %zu processes that '%s' started could not be ended\n", left, order.program[0]);
  std::error_code ignored;
  if (!order.scratch.empty() && is_alone()) fs::remove_all(order.scratch, ignored);
  end_as(status);
}

int print_what_lacks() {
  for (const auto& part : proc::missing_sandbox_parts()) ::printf("%s\n", part.c_str());
  if (!enter_namespaces())
    ::printf(
        "process numbers of its own for a program (PID namespaces: root, or a system that lets users make "
        "namespaces)\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::string_view(argv[1]) == "--lacks") return print_what_lacks();
    return confine(parse(argc, argv));
  } catch (const std::exception& error) {
    ::dprintf(2, "%s\n", error.what());
    return kRefused;
  }
}
