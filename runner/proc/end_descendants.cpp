#include "runner/proc/end_descendants.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "jobs/base/files.hpp"

namespace nkigrid::proc {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string folder_of(pid_t process) { return "/proc/" + std::to_string(process); }

/// What proc(5) says of a process or a thread. @returns state '\0' where nothing can be read
struct Facts {
  char state = '\0';
  pid_t parent = 0;
};
Facts facts_of(const std::string& folder) {
  std::ifstream file(folder + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  Facts facts;
  const auto name_end = text.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos || name_end + 4 > text.size()) return facts;
  facts.state = text[name_end + 2];
  facts.parent = static_cast<pid_t>(std::strtol(text.c_str() + name_end + 4, nullptr, 10));
  return facts;
}

/// Its threads, where they can be seen.
std::vector<std::string> threads_of(pid_t process) {
  std::vector<std::string> threads;
  std::error_code gone;
  for (fs::directory_iterator at(folder_of(process) + "/task", gone), end; !gone && at != end; at.increment(gone))
    threads.push_back(at->path().native());
  return threads;
}

enum class Motion { runs, waits, still };

/// What the busiest of its threads does: `waits` for the machine (D), where no signal is taken.
Motion motion_of(pid_t process) {
  auto motion = Motion::still;
  for (const auto& thread : threads_of(process)) {
    const char state = facts_of(thread).state;
    if (state == '\0' || std::string_view("TtZX").find(state) != std::string_view::npos) continue;
    if (state != 'D') return Motion::runs;
    motion = Motion::waits;
  }
  return motion;
}

struct Descendant {
  pid_t process = 0, parent = 0;
};

/// Signals one, unless its number was given to a stranger since it was read, which our own child's cannot be.
/// @returns false where we may not (EPERM)
bool signal_child(const Descendant& one, int signal) {
  if (one.parent == ::getpid()) return ::kill(one.process, signal) == 0 || errno != EPERM;
  const Fd held(static_cast<int>(::syscall(SYS_pidfd_open, one.process, 0)));
  if (!held || facts_of(folder_of(one.process)).parent != one.parent)
    return true;  // it has ended, or is found elsewhere
  return ::syscall(SYS_pidfd_send_signal, held.get(), signal, nullptr, 0) == 0 || errno != EPERM;
}

/// All descendants, parents before their children. @param meet called with each as soon as it is found
std::vector<Descendant> walk(const std::function<void(const Descendant&)>& meet) {
  std::vector<Descendant> all = {{::getpid(), 0}};
  std::set<pid_t> seen = {::getpid()};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto parent = all[i].process;
    for (const auto& thread : threads_of(parent)) {
      std::ifstream list(thread + "/children");
      for (pid_t child = 0; list >> child;) {
        if (!seen.insert(child).second) continue;
        all.push_back({child, parent});
        meet(all.back());
      }
    }
  }
  all.erase(all.begin());
  return all;
}

/// @returns once all stand still, or at the deadline
void stop_all(Clock::time_point deadline) {
  std::set<pid_t> waited;  // in the pass before: they were told, and will stop before they do anything
  for (bool is_quiet = false; !is_quiet && Clock::now() < deadline;) {
    is_quiet = true;
    std::set<pid_t> waiting;
    walk([&](const Descendant& one) {
      const auto motion = motion_of(one.process);
      if (motion == Motion::still || !signal_child(one, SIGSTOP)) return;
      if (motion == Motion::waits) waiting.insert(one.process);
      // It may have started somebody before it stops.
      if (motion == Motion::runs || !waited.contains(one.process)) is_quiet = false;
    });
    waited = std::move(waiting);
    if (!is_quiet) ::sched_yield();
  }
}

/// Children before their parents: a parent's end may wake its stopped children (setpgid(2): orphaned groups).
/// @returns how many there were; none that we may kill: `all_refused`
std::size_t kill_all(bool& all_refused) {
  const auto all = walk([](const Descendant&) {});
  std::size_t refused = 0;
  for (auto one = all.rbegin(); one != all.rend(); ++one) refused += signal_child(*one, SIGKILL) ? 0 : 1;
  all_refused = refused > 0 && refused == all.size();
  return all.size();
}

/// @returns whether there are children left
bool reap_ended() {
  pid_t ended = 0;
  while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0 || (ended < 0 && errno == EINTR)) {
  }
  return ended == 0;
}

void rest_a_moment() {
  const timespec moment{0, 1'000'000};
  ::nanosleep(&moment, nullptr);
}

}  // namespace

std::size_t end_descendants(const EndBounds& bounds) {
  const auto start = Clock::now();
  stop_all(start + bounds.stopping);
  const auto deadline = Clock::now() + bounds.killing;
  for (;;) {
    bool all_refused = false;
    const auto seen = kill_all(all_refused);
    if (!reap_ended()) return 0;
    if (all_refused || Clock::now() >= deadline) return std::max<std::size_t>(seen, 1);
    rest_a_moment();
  }
}

void reap_orphans(int but) {
  for (;;) {
    siginfo_t ended{};
    if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0 || ended.si_pid == but)
      return;
    ::waitpid(ended.si_pid, nullptr, WNOHANG);
  }
}

}  // namespace nkigrid::proc
