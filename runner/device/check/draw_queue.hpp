#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nkigrid::device {

/// Whose draw is made next. A task is code from anybody: of those that take long two go on at most, so that a third
/// place is there for tasks of which less is known (docs/decisions/sandbox.md). Knows no thread, no worker, no clock:
/// whoever asks says what time it is.
class DrawQueue {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Draw = std::uint64_t;  ///< one draw, from join() to leave(); later ones are greater
  struct Task {
    std::string hash, id;
  };

  static constexpr std::size_t kMostPlaces = 3;  ///< each worker holds torch: some 200 MB
  static constexpr std::size_t kMostSlow = 2;    ///< places that draws keep beyond their turn
  /// What a task's draw may take where others wait: the first time, the second; from then on the task is slow.
  static constexpr std::array<std::chrono::seconds, 2> kTurns = {std::chrono::seconds{1}, std::chrono::seconds{5}};
  /// Another worker is started for who has waited so long: most draws take moments, and one worker makes them all.
  static constexpr std::chrono::seconds kOpenAfter{5};
  static constexpr std::chrono::seconds kTellAfter{30}, kTellAgainAfter{60};

  /// A draw that waits for a place from now on.
  Draw join(const Task& task, Time now);

  struct Answer {
    bool may_begin = false;    ///< it has a place, until leave()
    std::optional<Draw> stop;  ///< whose draw must be stopped to make room; it is named once
    std::string words;         ///< for who waits; "": none
    Time look_again;           ///< when to ask next, where nobody joined, began or left before
  };
  /// @param draw one that waits
  Answer ask(Draw draw, Time now);

  /// Its worker has all it needs: what it takes counts from now. Until then it cannot be stopped.
  void begun(Draw draw, Time now);

  /// It has ended, was stopped, or waits no longer.
  void leave(Draw draw, Time now);

 private:
  using Level = std::size_t;  // how many kinds of turn a task has used up
  static constexpr Level kSlow = kTurns.size();
  struct Waiting {
    Task task;
    Level level = 0;
    Time since;
  };
  struct Running {
    Task task;
    Level level = 0;            // when it began
    std::optional<Time> begun;  // nothing: its worker is being made ready
    bool is_stopping = false;
  };

  static Level level_now(const Running& running, Time now);
  std::size_t count_slow(Time now) const;
  bool is_next(Draw draw, const Waiting& waiting, Time now) const;
  bool opens_a_place(const Waiting& waiting, Time now) const;
  std::optional<Draw> whom_to_stop(Level of_who_waits, Time now) const;
  Time next_change(const Waiting& waiting, Time now) const;
  std::string words_for(const Waiting& waiting, Time now);

  Draw last_ = 0;
  std::size_t open_ = 1;  // places so far
  std::map<Draw, Waiting> waiting_;
  std::map<Draw, Running> running_;
  std::map<std::string, Level> levels_;  // by hash; what is not here is 0
  std::optional<Time> told_;
};

}  // namespace nkigrid::device
