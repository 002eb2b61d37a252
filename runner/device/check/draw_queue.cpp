#include "runner/device/check/draw_queue.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace nkigrid::device {

DrawQueue::Draw DrawQueue::join(const Task& task, Time now) {
  const auto known = levels_.find(task.hash);
  waiting_[++last_] = {task, known == levels_.end() ? 0 : known->second, now};
  return last_;
}

DrawQueue::Answer DrawQueue::ask(Draw draw, Time now) {
  Answer answer;
  const auto& waiting = waiting_.at(draw);
  answer.words = words_for(waiting, now);
  answer.look_again = waiting.since + kTellAfter > now ? waiting.since + kTellAfter : now + kTellAgainAfter;
  if (!is_next(draw, waiting, now)) return answer;
  if (running_.size() >= open_ && opens_a_place(waiting, now)) ++open_;
  answer.may_begin = running_.size() < open_;
  if (answer.may_begin) {
    running_[draw] = {waiting.task, waiting.level, {}, false};
    waiting_.erase(draw);
    return answer;
  }
  answer.stop = whom_to_stop(waiting.level, now);
  if (answer.stop) running_.at(*answer.stop).is_stopping = true;
  answer.look_again = std::min(answer.look_again, next_change(waiting, now));
  return answer;
}

void DrawQueue::begun(Draw draw, Time now) { running_.at(draw).begun = now; }

void DrawQueue::leave(Draw draw, Time now) {
  waiting_.erase(draw);
  const auto running = running_.find(draw);
  if (running == running_.end()) return;
  if (const auto level = level_now(running->second, now); level > 0) {
    auto& known = levels_[running->second.task.hash];
    known = std::max(known, level);
  }
  running_.erase(running);
}

DrawQueue::Level DrawQueue::level_now(const Running& running, Time now) {
  if (!running.begun) return running.level;
  const auto used = std::ranges::count_if(kTurns, [&](auto turn) { return now - *running.begun >= turn; });
  return std::max(running.level, static_cast<Level>(used));
}

std::size_t DrawQueue::count_slow(Time now) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(running_, [&](const auto& one) { return level_now(one.second, now) == kSlow; }));
}

/// Who is known least goes first, then who came first.
bool DrawQueue::is_next(Draw draw, const Waiting& waiting, Time now) const {
  if (waiting.level == kSlow && count_slow(now) >= kMostSlow) return false;
  return std::ranges::none_of(waiting_, [&](const auto& other) {
    return std::pair(other.second.level, other.first) < std::pair(waiting.level, draw);
  });
}

bool DrawQueue::opens_a_place(const Waiting& waiting, Time now) const {
  return open_ < kMostPlaces && (now - waiting.since >= kOpenAfter || count_slow(now) == running_.size());
}

/// Of more than kMostSlow draws that go on past their turn, the one that began last: it loses least.
std::optional<DrawQueue::Draw> DrawQueue::whom_to_stop(Level of_who_waits, Time now) const {
  if (open_ < kMostPlaces || of_who_waits == kSlow) return std::nullopt;
  std::size_t over = 0;
  std::optional<std::pair<Time, Draw>> last;
  for (const auto& [draw, running] : running_) {
    if (running.is_stopping) return std::nullopt;  // a place is about to be free
    const bool had_its_turn = running.level == kSlow || level_now(running, now) > running.level;
    if (!had_its_turn || level_now(running, now) <= of_who_waits) continue;
    ++over;
    if (running.level == kSlow) continue;  // one that is known to be slow keeps its place, or would never end
    if (const std::pair since(*running.begun, draw); !last || *last < since) last = since;
  }
  return over > kMostSlow && last ? std::optional(last->second) : std::nullopt;
}

DrawQueue::Time DrawQueue::next_change(const Waiting& waiting, Time now) const {
  auto next = Time::max();
  const auto consider = [&](Time time) {
    if (time > now) next = std::min(next, time);
  };
  consider(waiting.since + kOpenAfter);
  for (const auto& [draw, running] : running_) {
    for (const auto turn : kTurns)
      if (running.begun) consider(*running.begun + turn);
  }
  return next;
}

std::string DrawQueue::words_for(const Waiting& waiting, Time now) {
  if (now - waiting.since < kTellAfter || (told_ && now - *told_ < kTellAgainAfter)) return {};
  told_ = now;
  std::vector<std::string> long_ones;
  for (const auto& [draw, running] : running_)
    if (level_now(running, now) == kSlow) long_ones.push_back(fmt::format("'{}'", running.task.id));
  return fmt::format("task '{}' has waited {} s for a draw of its reference, as do {} more; {}", waiting.task.id,
                     std::chrono::duration_cast<std::chrono::seconds>(now - waiting.since).count(), waiting_.size() - 1,
                     long_ones.empty() ? std::string("no draw takes long, there are many")
                                       : fmt::format("draws that take long: {}", fmt::join(long_ones, ", ")));
}

}  // namespace nkigrid::device
