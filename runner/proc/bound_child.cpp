#include "runner/proc/bound_child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "jobs/base/error.hpp"
#include "jobs/base/libexec.hpp"
#include "runner/proc/frame.hpp"

namespace nkigrid::proc {
namespace {

constexpr double kKeeperSeconds = 10;  // a keeper that has not gone by then is killed itself

std::vector<std::string> keeper_words(const std::vector<std::string>& argv, const BoundStart& start) {
  std::vector<std::string> words = {libexec_folder() / "nkigrid_confine", "open"};
  if (start.hears_signals) words.insert(words.end(), {"--signals", "through"});
  if (!start.scratch.empty()) words.insert(words.end(), {"--scratch", start.scratch.native()});
  words.emplace_back("--");
  words.insert(words.end(), argv.begin(), argv.end());
  return words;
}

/// Why the program could not be started, or 0: the keeper's one word.
int start_error(const Fd& lifeline) {
  int error = 0;
  ssize_t got = -1;
  while ((got = ::recv(lifeline.get(), &error, sizeof error, 0)) < 0 && errno == EINTR) {
  }
  return got == sizeof error ? error : ECHILD;
}

}  // namespace

Bound start_bound(const std::vector<std::string>& argv, const BoundStart& start) {
  auto lifeline = make_socket_pair(SocketKind::stream);
  const Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing) throw_errno(errno, "open", "/dev/null");
  const std::array<DescriptorMap, 4> descriptors = {
      {{start.out, 1}, {start.err, 2}, {nothing.get(), 3}, {lifeline.theirs.get(), 4}}};
  Bound bound;
  bound.process = spawn(keeper_words(argv, start), start.environment, descriptors, start.group);
  bound.lifeline = std::move(lifeline.ours);
  lifeline.theirs = Fd();
  if (const int error = start_error(bound.lifeline); error != 0) {
    end_bound(bound);
    throw_errno(error, "start", argv.at(0));
  }
  return bound;
}

ChildEnd end_bound(Bound& bound) {
  // A word before the end: we live.
  const char alive = 'a';
  static_cast<void>(::send(bound.lifeline.get(), &alive, 1, MSG_NOSIGNAL));
  bound.lifeline = Fd();
  if (!wait_readable(bound.process.pidfd.get(), deadline_after(kKeeperSeconds))) ::kill(-bound.process.pid, SIGKILL);
  return reap(bound.process);
}

}  // namespace nkigrid::proc
