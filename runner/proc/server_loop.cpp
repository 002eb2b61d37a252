#include "runner/proc/server_loop.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include "runner/proc/frame.hpp"
#include "runner/proc/spawn.hpp"

namespace nkigrid::proc {
namespace {

/// What a child is made for.
struct Order {
  Fd status;  ///< hears how it ended
  Fd work;    ///< its stream to the one who asked
};

struct Child {
  Process process;
  Fd status;
  bool taken = false;  ///< its asker has begun with it
  bool cancelled = false;
  bool ended = false;  ///< and told of, before it was taken
};

void report(const Child& child, const ChildEnd& end) {
  std::array<std::int32_t, 2> fields{0, 0};
  if (const auto* exited = std::get_if<Exited>(&end)) fields = {0, exited->status};
  if (const auto* signaled = std::get_if<Signaled>(&end)) fields = {1, signaled->signal};
  if (child.cancelled) fields[0] = 2;
  send_packet(child.status.get(), {reinterpret_cast<const char*>(fields.data()), sizeof fields}, {});
}

class Server {
 public:
  Server(int control, const ChildWork& work) : control_(control), work_(work) {}

  int serve() {
    for (;;) {
      // Not beside a child at work: each of its first writes to a page would wait for the fork.
      const bool ahead = !orders_.empty() && std::ranges::none_of(children_, is_at_work);
      const auto next = watch(ahead ? 0 : -1);
      if (next == Next::leave) return 0;
      if (next == Next::broken) return 1;
      if (next == Next::nothing) fork_child();
    }
  }
  ~Server() {
    for (auto& child : children_) {
      if (child.ended) continue;
      ::kill(child.process.pid, SIGKILL);
      reap(child.process);
    }
  }

 private:
  enum class Next { more, nothing, leave, broken };

  static bool is_at_work(const Child& child) { return child.taken && !child.cancelled; }

  /// Handles what is ready, or becomes it within the time [ms, -1: any].
  Next watch(int timeout) {
    std::vector<pollfd> watched = {{control_, POLLIN, 0}};
    for (const auto& child : children_) {
      // Once cancelled, the status socket would report the hang-up again and again.
      watched.push_back({child.cancelled || child.ended ? -1 : child.status.get(), POLLIN, 0});
      watched.push_back({child.ended ? -1 : child.process.pidfd.get(), POLLIN, 0});
    }
    const int ready = ::poll(watched.data(), watched.size(), timeout);
    if (ready < 0) return errno == EINTR ? Next::more : Next::broken;
    if (ready == 0) return Next::nothing;
    for (std::size_t i = 0; i < children_.size(); ++i) attend(children_[i], watched[1 + 2 * i], watched[2 + 2 * i]);
    // One that was not taken keeps its place: whatever killed it is not fed before somebody asks for it.
    std::erase_if(children_, [](const Child& child) { return child.ended && child.taken; });
    return watched[0].revents == 0 || take_request() ? Next::more : Next::leave;
  }

  static void attend(Child& child, const pollfd& status, const pollfd& ended) {
    if (ended.revents != 0) {
      report(child, reap(child.process));
      child.status = Fd();
      child.ended = true;
    } else if (status.revents != 0) {
      child.cancelled = true;
      ::kill(child.process.pid, SIGKILL);
    }
  }

  /// @returns false when nobody asks any more
  bool take_request() {
    auto request = receive_packet(control_);
    if (!request) return false;
    auto& brought = request->descriptors;
    if (brought.size() == 2) orders_.push_back({std::move(brought[0]), std::move(brought[1])});
    if (request->head == kTaken) give_the_oldest();
    return true;
  }

  void give_the_oldest() {
    const auto is_waiting = [](const Child& child) { return !child.taken; };
    auto oldest = std::ranges::find_if(children_, is_waiting);
    if (oldest == children_.end()) {
      if (orders_.empty()) return;
      fork_child();
      oldest = std::prev(children_.end());
    }
    oldest->taken = true;
    if (oldest->ended) children_.erase(oldest);
  }

  /// Makes the child of the oldest order. Where there can be none its status socket closes, which says it, and its
  /// place stays.
  void fork_child() {
    auto order = std::move(orders_.front());
    orders_.pop_front();
    const pid_t server = ::getpid();
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      // A parent outside of the child's process namespace has number 0.
      if (const pid_t parent = ::getppid(); parent != server && parent != 0) ::_exit(1);
      order.status = Fd();
      ::_exit(be_child(std::move(order.work)));
    }
    Child child;
    if (pid < 0) {
      child.ended = true;
    } else {
      child.process = {pid, open_pidfd(pid)};
      child.status = std::move(order.status);
    }
    children_.push_back(std::move(child));
  }
  int be_child(Fd work) {
    for (auto& other : children_) other.status = Fd();  // what others are told is none of its business
    orders_.clear();
    work_.prepare(work.get());
    return work_.serve(std::move(work));
  }

  int control_;
  const ChildWork& work_;
  std::deque<Order> orders_;     ///< of children that are still to be made
  std::vector<Child> children_;  ///< the oldest first
};

}  // namespace

int serve_forks(int control, const ChildWork& child) { return Server(control, child).serve(); }

}  // namespace nkigrid::proc
