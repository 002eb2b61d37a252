#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "jobs/base/clock.hpp"

namespace nkigrid::runner {

/// Rank 0's line on stderr: rewritten ten times a second on a terminal and never wider than it, whole plain lines (each
/// 5 %, at least every 30 s) on a pipe. What is told beside it goes through tell(), which keeps the two apart.
class Progress {
 public:
  struct State {
    std::uint64_t episodes = 0, scored = 0, passed = 0, in_flight = 0, failed_attempts = 0;
    std::string
        failure;  ///< of the newest attempt that infrastructure ended: "outcome: why"; each outcome is told once
    bool draining = false;  ///< nothing is begun any more
    bool operator==(const State&) const = default;
  };

  /// @param fd where it writes; @param terminal whether lines may be rewritten there; @param quiet prints nothing
  Progress(int fd, bool terminal, bool quiet, const Clock& clock);
  void show(const State& state);
  void finish(const State& state);  ///< the last state, and a newline after a rewritten line; the first call counts
  /// A notice of its own line; not when quiet.
  void tell(const std::string& text);

 private:
  void tell_failure(const std::string& failure);
  std::vector<std::string> lines_of(const State& state) const;  ///< the same in fewer and fewer words
  std::string rewritten(const State& state) const;
  void print(const std::string& text);

  int fd_;
  bool terminal_, quiet_;
  const Clock& clock_;
  Seconds started_, last_shown_{-1e9};
  std::uint64_t scored_at_start_ = 0, last_step_ = 0;
  std::optional<State> last_state_;  ///< as last shown
  std::set<std::string> told_;       ///< outcomes whose first failure was told
  bool first_ = true, over_ = false;
};

/// True when `fd` is a terminal that understands rewriting (TERM is not dumb).
bool is_terminal(int fd);

}  // namespace nkigrid::runner
