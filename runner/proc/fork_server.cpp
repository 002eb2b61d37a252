#include "runner/proc/fork_server.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::proc {

void Job::cancel() noexcept {
  ::shutdown(status_.get(), SHUT_WR);
  work_ = Fd();
}

std::optional<JobEnd> Job::wait(Deadline deadline) {
  if (!wait_readable(status_.get(), deadline)) return std::nullopt;
  const auto packet = receive_packet(status_.get());
  std::array<std::int32_t, 2> fields{};  // how (0 exited, 1 signaled, 2 killed on demand), value
  if (!packet || packet->head.size() < sizeof fields) return std::nullopt;
  std::memcpy(fields.data(), packet->head.data(), sizeof fields);
  JobEnd end;
  if (fields[0] == 0) end.end = Exited{fields[1]};
  if (fields[0] == 1) end.end = Signaled{fields[1]};
  if (fields[0] == 2) end.end = TimedOut{};
  end.note = to_valid_utf8(packet->head.substr(sizeof fields));
  return end;
}

bool Job::is_over() const { return wait_readable(status_.get(), deadline_after(0)); }

std::optional<JobEnd> Job::end(Seconds grace, Seconds patience) {
  if (!wait_readable(status_.get(), deadline_after(grace.count()))) cancel();
  return wait(deadline_after(patience.count()));
}

ForkServer::ForkServer(Spec spec) : spec_(std::move(spec)) {
  auto pair = make_socket_pair(SocketKind::packets);
  // Words on stderr go to memory, not to a pipe that nobody drains.
  errors_ = Fd(::memfd_create("server-stderr", MFD_CLOEXEC));
  if (!errors_) throw_errno(errno, "make shared memory");
  const std::array<DescriptorMap, 2> descriptors = {{{errors_.get(), 2}, {pair.theirs.get(), 3}}};
  try {
    process_ = spawn(spec_.argv, spec_.environment, descriptors, Group::own_session);
  } catch (const Error& error) {
    throw Error(ErrorCode::external, fmt::format("cannot start the {}: {}", spec_.name, error.what()));
  }
  control_ = std::move(pair.ours);
  try {
    for (std::size_t child = 0; child < spec_.ahead; ++child) order(kOrder);
  } catch (const Error&) {
    // One that is gone already says why where it is waited for.
  }
}

ForkServer::~ForkServer() {
  control_ = Fd();  // the server sees the end, kills its children and leaves
  try {
    if (!wait_readable(process_.pidfd.get(), deadline_after(2))) ::kill(process_.pid, SIGKILL);
    reap(process_);
  } catch (const Error&) {
    // Nothing can be done for a server that cannot be waited for.
  }
}

void ForkServer::kill() {
  ::kill(process_.pid, SIGKILL);
  static_cast<void>(wait_readable(process_.pidfd.get(), deadline_after(10)));  // its sockets are closed then
}

std::string ForkServer::last_words() {
  std::array<char, 4096> text;
  const off_t end = ::lseek(errors_.get(), 0, SEEK_END);
  const off_t from = end > static_cast<off_t>(text.size()) ? end - static_cast<off_t>(text.size()) : 0;
  const auto got = ::pread(errors_.get(), text.data(), text.size(), from);
  return to_valid_utf8({text.data(), got > 0 ? static_cast<std::size_t>(got) : 0});
}

/// What it said last and how it ended: a server that says nothing (no descriptor or no memory left) still has an exit
/// code.
std::string ForkServer::how_it_ended() {
  siginfo_t info{};
  const bool ended = wait_readable(process_.pidfd.get(), deadline_after(1)) &&
                     ::waitid(P_PID, static_cast<id_t>(process_.pid), &info, WEXITED | WNOWAIT) == 0;
  std::string how = "it closed its socket and runs on";
  if (ended)
    how = info.si_code == CLD_EXITED ? fmt::format("exit code {}", info.si_status)
                                     : fmt::format("signal {}", info.si_status);
  auto words = last_words();
  while (!words.empty() && words.back() == '\n') words.pop_back();
  if (!words.empty()) return fmt::format("{} ({})", words, how);
  return fmt::format("it said nothing ({}); look at `ulimit -a` where it ran", how);
}

std::string ForkServer::wait_ready(Seconds timeout) {
  if (!wait_readable(control_.get(), deadline_after(timeout.count()))) {
    throw Error(ErrorCode::external,
                fmt::format("the {} did not get ready within {:.0f} s; {}", spec_.name, timeout.count(), last_words()));
  }
  auto packet = receive_packet(control_.get());
  if (!packet)
    throw Error(ErrorCode::external, fmt::format("the {} stopped while it started: {}", spec_.name, how_it_ended()));
  return std::move(packet->head);
}

void ForkServer::order(std::string_view packet) {
  auto work = make_socket_pair(SocketKind::stream);
  auto status = make_socket_pair(SocketKind::packets);
  const std::array<int, 2> descriptors = {status.theirs.get(), work.theirs.get()};
  if (!send_packet(control_.get(), packet, descriptors)) {
    throw Error(ErrorCode::external, fmt::format("the {} is gone: {}", spec_.name, last_words()));
  }
  ahead_.emplace_back(std::move(work.ours), std::move(status.ours));
}

Job ForkServer::start() {
  // Children that died while they waited are passed over, once: what kills each of them is for its job to tell.
  for (auto left = ahead_.size();; --left) {
    order(kTaken);
    auto job = std::move(ahead_.front());
    ahead_.pop_front();
    if (left <= 1 || !job.is_over()) return job;
  }
}

}  // namespace nkigrid::proc
