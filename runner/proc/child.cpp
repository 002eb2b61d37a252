#include "runner/proc/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "runner/proc/bound_child.hpp"
#include "runner/proc/capture.hpp"
#include "runner/proc/held_signals.hpp"

namespace nkigrid::proc {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Pipe {
  Fd read_end, write_end;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno(errno, "make a pipe");
    read_end = Fd(ends[0]);
    write_end = Fd(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
};

/// Reads what is there, at most 4 MiB: a writer faster than we are must not outrun the deadline.
/// @returns false at the end of the stream
bool drain(int fd, HeadTail& into) {
  std::array<char, 65536> buffer;
  for (int rounds = 0; rounds < 64; ++rounds) {
    const auto got = ::read(fd, buffer.data(), buffer.size());
    if (got > 0) {
      into.add({buffer.data(), static_cast<std::size_t>(got)});
    } else if (got == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
  return true;
}

int milliseconds_left(SteadyClock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, 60'000));
}

enum class Watched { ended, timed_out, interrupted };

/// Drains both pipes until the process ends, the deadline passes or a signal comes that is held back.
Watched watch(const Process& process, std::array<int, 2> pipes, std::array<HeadTail*, 2> streams,
              SteadyClock::time_point deadline, int held_signals) {
  std::array<pollfd, 4> watched = {
      {{process.pidfd.get(), POLLIN, 0}, {pipes[0], POLLIN, 0}, {pipes[1], POLLIN, 0}, {held_signals, POLLIN, 0}}};
  for (;;) {
    const int left = milliseconds_left(deadline);
    if (::poll(watched.data(), watched.size(), left) < 0 && errno != EINTR) throw_errno(errno, "wait for a command");
    for (int i = 0; i < 2; ++i) {
      if (watched[i + 1].revents != 0 && !drain(pipes[i], *streams[i])) watched[i + 1].fd = -1;
    }
    if (watched[0].revents != 0) return Watched::ended;
    if (watched[3].revents != 0) return Watched::interrupted;
    if (SteadyClock::now() >= deadline) return Watched::timed_out;
  }
}

}  // namespace

std::string describe(const ChildEnd& end) {
  struct Visitor {
    std::string operator()(const Exited& e) const { return fmt::format("exited with status {}", e.status); }
    std::string operator()(const Signaled& s) const {
      return fmt::format("killed by signal {} ({})", s.signal, ::strsignal(s.signal));
    }
    std::string operator()(const TimedOut&) const { return "timed out"; }
    std::string operator()(const NotStarted& n) const { return fmt::format("did not start: {}", n.reason); }
  };
  return std::visit(Visitor{}, end);
}

bool is_success(const ChildEnd& end) noexcept {
  const auto* exited = std::get_if<Exited>(&end);
  return exited != nullptr && exited->status == 0;
}

CommandResult run_command(const std::vector<std::string>& argv, Seconds timeout,
                          const std::vector<std::string>& environment, std::size_t keep_bytes,
                          const std::filesystem::path& scratch) {
  const auto deadline = SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(timeout);
  CommandResult result;
  const auto signals = watch_held_signals();
  Pipe out, err;
  HeadTail out_text(keep_bytes), err_text(keep_bytes);
  Bound program;
  try {
    program =
        start_bound(argv, {environment, out.write_end.get(), err.write_end.get(), Group::own_group, false, scratch});
  } catch (const Error& error) {
    result.end = NotStarted{error.what()};
    return result;
  }
  out.write_end = Fd();
  err.write_end = Fd();
  const auto how =
      watch(program.process, {out.read_end.get(), err.read_end.get()}, {&out_text, &err_text}, deadline, signals.get());
  const auto end = end_bound(program);
  if (how == Watched::interrupted)
    throw Error(ErrorCode::interrupted, fmt::format("stopped by a signal; '{}' was ended with it", argv.at(0)));
  result.end = how == Watched::ended ? end : ChildEnd{TimedOut{}};
  drain(out.read_end.get(), out_text);
  drain(err.read_end.get(), err_text);
  result.out = out_text.text();
  result.err = err_text.text();
  result.out_bytes = out_text.total_bytes();
  result.err_bytes = err_text.total_bytes();
  result.out_sha256 = out_text.sha256();
  result.err_sha256 = err_text.sha256();
  return result;
}

}  // namespace nkigrid::proc
