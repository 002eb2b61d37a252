#include "runner/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/text.hpp"
#include "jobs/base/wrapped.hpp"

namespace nkigrid::runner {
namespace {

constexpr Seconds kRewrite{0.1};
constexpr Seconds kPlainLine{30};
constexpr std::uint64_t kPlainSteps = 20;  // a line each 5 %

std::string short_time(Seconds time) {
  const auto seconds = static_cast<std::uint64_t>(time.count() + 0.5);
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
}

/// What fits in a line of the terminal behind `fd` without filling it: a full one may wrap, and then every redraw
/// begins a new line. Asked each time, windows change.
std::size_t room_on(int fd) {
  constexpr std::size_t kUnknown = 80;
  winsize window{};
  const bool known = ::ioctl(fd, TIOCGWINSZ, &window) == 0 && window.ws_col > 1;
  return (known ? window.ws_col : kUnknown) - 1;
}

/// The first of these lines, the longest first, that fits; the last one cut where none does. @pre ASCII
std::string fitting(const std::vector<std::string>& lines, std::size_t room) {
  const auto fits = [room](const std::string& line) { return line.size() <= room; };
  const auto found = std::find_if(lines.begin(), lines.end(), fits);
  return found != lines.end() ? *found : lines.back().substr(0, room);
}

}  // namespace

bool is_terminal(int fd) {
  const char* term = std::getenv("TERM");
  return ::isatty(fd) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

Progress::Progress(int fd, bool terminal, bool quiet, const Clock& clock)
    : fd_(fd), terminal_(terminal), quiet_(quiet), clock_(clock), started_(clock.monotonic()) {}

void Progress::show(const State& state) {
  if (first_) {
    scored_at_start_ = state.scored;
    first_ = false;
  }
  tell_failure(state.failure);
  const auto now = clock_.monotonic();
  const auto step = state.episodes == 0 ? 0 : state.scored * kPlainSteps / state.episodes;
  const bool due = terminal_ ? now - last_shown_ >= kRewrite : now - last_shown_ >= kPlainLine || step > last_step_;
  if (quiet_ || over_ || !due) return;
  last_shown_ = now;
  last_step_ = step;
  last_state_ = state;
  print(terminal_ ? rewritten(state) : lines_of(state).front() + "\n");
}

void Progress::finish(const State& state) {
  tell_failure(state.failure);
  if (quiet_ || std::exchange(over_, true) || (!terminal_ && last_state_ == state))
    return;  // a pipe has that line already
  print((terminal_ ? rewritten(state) : lines_of(state).front()) + "\n");
}

void Progress::tell(const std::string& text) {
  if (quiet_) return;
  print(fmt::format("{}nkigrid: {}\n", terminal_ ? "\r\x1b[K" : "", printable(text)));
  last_shown_ = Seconds(-1e9);  // the line is due below it
}

/// Hundreds of attempts may fail for one reason: the first is told, the line counts the rest.
void Progress::tell_failure(const std::string& failure) {
  if (failure.empty() || !told_.insert(failure.substr(0, failure.find(':'))).second) return;
  tell("an attempt failed by the machinery, not by the model, and is made again: " + one_line(failure));
}

std::vector<std::string> Progress::lines_of(const State& state) const {
  const auto elapsed = clock_.monotonic() - started_;
  const auto done_here = state.scored - scored_at_start_;
  std::string eta = state.scored == state.episodes ? "0s" : "?";
  if (done_here > 0)
    eta = short_time(elapsed / static_cast<double>(done_here) * static_cast<double>(state.episodes - state.scored));
  if (state.draining) eta = "-";
  const auto running = fmt::format("{} {}", state.in_flight, state.draining ? "draining" : "running");
  const auto count = fmt::format("{}/{}", state.scored, state.episodes);
  const auto failed = state.failed_attempts;
  const auto if_failed = [failed](const char* words) {
    return failed == 0 ? "" : fmt::format(", {} {}", failed, words);
  };
  return {fmt::format("{} episodes, {} passed, {}, {} elapsed, ETA {}{}", count, state.passed, running,
                      short_time(elapsed), eta, if_failed("attempts failed by the machinery")),
          fmt::format("{} episodes, {} passed, {}, ETA {}{}", count, state.passed, running, eta,
                      if_failed("attempts failed")),
          fmt::format("{}, {} passed, {}, ETA {}{}", count, state.passed, running, eta, if_failed("retried")),
          fmt::format("{}, ETA {}", count, eta)};
}

std::string Progress::rewritten(const State& state) const {
  return "\r" + fitting(lines_of(state), room_on(fd_)) + "\x1b[K";
}

void Progress::print(const std::string& text) {
  // stderr that is gone must not end a run.
  [[maybe_unused]] const auto ignored = ::write(fd_, text.data(), text.size());
}

}  // namespace nkigrid::runner
