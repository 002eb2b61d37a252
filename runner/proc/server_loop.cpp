#include "runner/proc/server_loop.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>
#include <variant>
#include <vector>

#include "runner/proc/frame.hpp"
#include "runner/proc/spawn.hpp"

namespace nkigrid::proc {
namespace {

struct Active {
  Fd status;
  Process process;
  bool cancelled = false;
};

void report(const Active& child, const ChildEnd& end) {
  std::array<std::int32_t, 2> fields{0, 0};
  if (const auto* exited = std::get_if<Exited>(&end)) fields = {0, exited->status};
  if (const auto* signaled = std::get_if<Signaled>(&end)) fields = {1, signaled->signal};
  if (child.cancelled) fields[0] = 2;
  send_packet(child.status.get(), {reinterpret_cast<const char*>(fields.data()), sizeof fields}, {});
}

/// Forks the child of one job. The child keeps its work socket only.
Active fork_child(Frame request, const ChildMain& child_main) {
  Active child;
  child.status = std::move(request.descriptors.at(0));
  const pid_t server = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // A parent outside of the child's process namespace has number 0.
    if (const pid_t parent = ::getppid(); parent != server && parent != 0) ::_exit(1);
    ::_exit(child_main(std::move(request.descriptors.at(1))));
  }
  if (pid > 0) child.process = {pid, open_pidfd(pid)};
  return child;
}

/// Handles one poll result of a child. @returns true when it is done with
bool attend(Active& child, const pollfd& status, const pollfd& ended) {
  if (ended.revents != 0) {
    report(child, reap(child.process));
    return true;
  }
  if (status.revents != 0) {
    child.cancelled = true;
    ::kill(child.process.pid, SIGKILL);
  }
  return false;
}

void kill_all(std::vector<Active>& children) {
  for (auto& child : children) {
    ::kill(child.process.pid, SIGKILL);
    reap(child.process);
  }
}

}  // namespace

int serve_forks(int control, const ChildMain& child_main) {
  std::vector<Active> children;
  for (;;) {
    std::vector<pollfd> watched = {{control, POLLIN, 0}};
    for (const auto& child : children) {
      // Once cancelled, the status socket would report the hang-up again and again.
      watched.push_back({child.cancelled ? -1 : child.status.get(), POLLIN, 0});
      watched.push_back({child.process.pidfd.get(), POLLIN, 0});
    }
    if (::poll(watched.data(), watched.size(), -1) < 0) {
      if (errno == EINTR) continue;
      kill_all(children);
      return 1;
    }
    std::vector<Active> still;
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (!attend(children[i], watched[1 + 2 * i], watched[2 + 2 * i])) still.push_back(std::move(children[i]));
    }
    children = std::move(still);
    if (watched[0].revents == 0) continue;
    auto request = receive_packet(control);
    if (!request) {
      kill_all(children);
      return 0;
    }
    if (request->descriptors.size() != 2) continue;
    auto child = fork_child(std::move(*request), child_main);
    if (child.process.pid > 0) children.push_back(std::move(child));  // else: the status socket closes, which says it
  }
}

}  // namespace nkigrid::proc
