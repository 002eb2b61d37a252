#include "cli/status_follow.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include "jobs/base/clock.hpp"

namespace nkigrid::cli {
namespace {

constexpr Seconds kLookEvery{2};
/// A look that takes long (a large log, a controller that is away) is repeated less often.
constexpr Seconds kLookAtLeastEvery{10};
/// A run that nothing works on is over after this long: a session that starts reads and compiles before it can be seen.
constexpr Seconds kOverAfter{10};

std::atomic<bool> interrupted{false};
extern "C" void on_interrupt(int) { interrupted = true; }

/// Between looks only: SIGINT ends the wait, never a line half-way.
class Interrupts {
 public:
  Interrupts() {
    struct sigaction action = {};
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, &before_);
    sigset_t only = {};
    sigemptyset(&only);
    sigaddset(&only, SIGINT);
    sigprocmask(SIG_BLOCK, &only, &mask_);
  }
  ~Interrupts() {
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
    sigaction(SIGINT, &before_, nullptr);
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// @returns false when SIGINT came
  bool wait(Seconds time) const {
    const timespec timeout{
        static_cast<time_t>(time.count()),
        static_cast<long>((time.count() - static_cast<double>(static_cast<time_t>(time.count()))) * 1e9)};
    ::ppoll(nullptr, 0, &timeout, &mask_);
    return !interrupted;
  }

 private:
  struct sigaction before_ = {};
  sigset_t mask_ = {};
};

/// Over the last drawing, line by line: nothing flickers. What does not fit the window is cut, else it would scroll
/// away.
void draw(const std::string& text, bool first) {
  winsize window = {};
  const auto known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_row > 1;
  std::size_t rows = known ? window.ws_row - 1U : 1000;
  std::string out = first ? "\x1b[2J\x1b[H" : "\x1b[H";
  for (std::string_view rest = text; !rest.empty() && rows > 0; --rows) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    out.append(line).append("\x1b[K\n");
  }
  fmt::print("{}\x1b[J", out);
}

std::string now_text() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace

ExitCode follow(FollowStyle style, const std::function<StatusReport()>& look) {
  const SystemClock clock;
  const Interrupts interrupts;
  Seconds worked_at = clock.monotonic();  // when something was last seen to work on the run
  std::string last_line;
  for (bool first = true;; first = false) {
    const auto started = clock.monotonic();
    const auto report = look();
    const auto now = clock.monotonic();
    if (report.works) worked_at = now;
    const bool over = report.outstanding == 0 || now - worked_at >= kOverAfter;
    if (style == FollowStyle::redraw)
      draw(to_text(report) + (report.cluster_warning.empty() ? "" : "\n" + report.cluster_warning + "\n"), first);
    if (style == FollowStyle::json_lines) fmt::print("{}", to_json(report, JsonLayout::line));
    if (style == FollowStyle::lines) {
      const auto line = to_line(report);
      if (line != last_line) fmt::print("{} {}\n", now_text(), line);
      last_line = line;
      if (over) fmt::print("\n{}", to_text(report));
    }
    std::fflush(stdout);
    if (over) return report.outstanding == 0 ? ExitCode::done : ExitCode::incomplete;
    if (!interrupts.wait(std::clamp(3 * (now - started), kLookEvery, kLookAtLeastEvery))) return ExitCode::interrupted;
  }
}

}  // namespace nkigrid::cli
