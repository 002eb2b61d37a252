#include "runner/proc/server_loop.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "runner/proc/frame.hpp"
#include "runner/proc/spawn.hpp"

namespace nkigrid::proc {
namespace {

struct Child {
  Process process;
  Fd channel;  ///< what its job comes by
  Fd status;   ///< of its job
  bool cancelled = false;
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
      const bool idle = std::all_of(children_.begin(), children_.end(), [](const Child& c) { return c.cancelled; });
      const bool ahead = !spare_ && idle && forks_ahead_;
      const auto next = watch(ahead ? 0 : -1);
      if (next == Next::leave) return 0;
      if (next == Next::broken) return 1;
      if (next == Next::nothing) spare_ = fork_child();
    }
  }
  ~Server() {
    if (spare_) children_.push_back(std::move(*spare_));
    for (auto& child : children_) {
      ::kill(child.process.pid, SIGKILL);
      reap(child.process);
    }
  }

 private:
  enum class Next { more, nothing, leave, broken };

  /// Handles what is ready, or becomes it within the time [ms, -1: any].
  Next watch(int timeout) {
    std::vector<pollfd> watched = {{control_, POLLIN, 0}, {spare_ ? spare_->process.pidfd.get() : -1, POLLIN, 0}};
    for (const auto& child : children_) {
      // Once cancelled, the status socket would report the hang-up again and again.
      watched.push_back({child.cancelled ? -1 : child.status.get(), POLLIN, 0});
      watched.push_back({child.process.pidfd.get(), POLLIN, 0});
    }
    const int ready = ::poll(watched.data(), watched.size(), timeout);
    if (ready < 0) return errno == EINTR ? Next::more : Next::broken;
    if (ready == 0) return Next::nothing;
    attend(watched);
    return watched[0].revents == 0 || take_request() ? Next::more : Next::leave;
  }

  void attend(const std::vector<pollfd>& watched) {
    if (watched[1].revents != 0) {
      reap(spare_->process);
      spare_.reset();
      forks_ahead_ = false;  // whatever kills it must not be fed
    }
    std::vector<Child> still;
    for (std::size_t i = 0; i < children_.size(); ++i) {
      if (!attend(children_[i], watched[2 + 2 * i], watched[3 + 2 * i])) still.push_back(std::move(children_[i]));
    }
    children_ = std::move(still);
  }
  /// @returns true when it is done with
  static bool attend(Child& child, const pollfd& status, const pollfd& ended) {
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

  /// @returns false when nobody asks any more
  bool take_request() {
    auto request = receive_packet(control_);
    if (!request) return false;
    if (request->descriptors.size() != 2) return true;
    auto child = spare_ ? std::exchange(spare_, std::nullopt) : fork_child();
    if (!child) return true;  // the status socket closes, which says it
    const std::array<int, 1> work = {request->descriptors[1].get()};
    child->status = std::move(request->descriptors[0]);
    send_packet(child->channel.get(), "W", work);  // one that died has its end reported
    child->channel = Fd();
    children_.push_back(std::move(*child));
    forks_ahead_ = true;
    return true;
  }

  std::optional<Child> fork_child() {
    SocketPair channel = make_socket_pair(SocketKind::packets);
    const pid_t server = ::getpid();
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      // A parent outside of the child's process namespace has number 0.
      if (const pid_t parent = ::getppid(); parent != server && parent != 0) ::_exit(1);
      channel.ours = Fd();
      ::_exit(be_child(std::move(channel.theirs)));
    }
    if (pid < 0) return std::nullopt;
    Child child;
    child.process = {pid, open_pidfd(pid)};
    child.channel = std::move(channel.ours);
    return child;
  }
  int be_child(Fd channel) {
    for (auto& other : children_) other.status = Fd();  // what others are told is none of its business
    work_.prepare(channel.get());
    auto job = receive_packet(channel.get());
    if (!job || job->descriptors.empty()) return 0;
    channel = Fd();
    return work_.serve(std::move(job->descriptors[0]));
  }

  int control_;
  const ChildWork& work_;
  std::vector<Child> children_;
  std::optional<Child> spare_;
  bool forks_ahead_ = true;
};

}  // namespace

int serve_forks(int control, const ChildWork& child) { return Server(control, child).serve(); }

}  // namespace nkigrid::proc
