#include "runner/progress.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/core.h>

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
  const auto now = clock_.monotonic();
  const auto step = state.episodes == 0 ? 0 : state.scored * kPlainSteps / state.episodes;
  const bool due = terminal_ ? now - last_shown_ >= kRewrite : now - last_shown_ >= kPlainLine || step > last_step_;
  if (quiet_ || over_ || !due) return;
  last_shown_ = now;
  last_step_ = step;
  last_state_ = state;
  print(terminal_ ? "\r" + line_of(state) + "\x1b[K" : line_of(state) + "\n");
}

void Progress::finish(const State& state) {
  if (quiet_ || std::exchange(over_, true) || (!terminal_ && last_state_ == state))
    return;  // a pipe has that line already
  print(terminal_ ? "\r" + line_of(state) + "\x1b[K\n" : line_of(state) + "\n");
}

std::string Progress::line_of(const State& state) const {
  const auto elapsed = clock_.monotonic() - started_;
  const auto done_here = state.scored - scored_at_start_;
  std::string eta = state.scored == state.episodes ? "0s" : "?";
  if (done_here > 0)
    eta = short_time(elapsed / static_cast<double>(done_here) * static_cast<double>(state.episodes - state.scored));
  std::string line = fmt::format("{}/{} episodes, {} passed, {} running, {} elapsed, ETA {}", state.scored,
                                 state.episodes, state.passed, state.in_flight, short_time(elapsed), eta);
  if (state.failed_attempts > 0) line += fmt::format(", {} attempts failed by the machinery", state.failed_attempts);
  return line;
}

void Progress::print(const std::string& text) {
  // stderr that is gone must not end a run.
  [[maybe_unused]] const auto ignored = ::write(fd_, text.data(), text.size());
}

}  // namespace nkigrid::runner
