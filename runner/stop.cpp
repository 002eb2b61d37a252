#include "runner/stop.hpp"

#include <algorithm>
#include <csignal>

namespace nkigrid::runner {
namespace {

constexpr std::size_t kRecent = 32;
constexpr double kSlack = 1.5;
constexpr double kFirstShare = 0.25;

void keep(std::deque<Seconds>& recent, Seconds took) {
  recent.push_back(took);
  if (recent.size() > kRecent) recent.pop_front();
}

Seconds longest(const std::deque<Seconds>& recent) {
  return recent.empty() ? Seconds(0) : *std::max_element(recent.begin(), recent.end());
}

}  // namespace

void StopPlan::signal(int number, Seconds now) {
  if (!closed_) closed_ = now;
  if (number == SIGUSR1) {
    // The limit is near and known: turns in flight have until then. Unknown: nothing better than to end soon.
    if (!end_ && !last_call_) last_call_ = now;
    return;
  }
  if (!last_call_) last_call_ = now;
  if (number == SIGTERM && !abandon_) abandon_ = now + kTermGrace;
}

StopStage StopPlan::stage(Seconds now) const {
  const auto passed = [&](const std::optional<Seconds>& at) { return at && now >= *at; };
  if (passed(abandon_) || (end_ && now >= *end_ - kReserve)) return StopStage::abandon;
  if (passed(last_call_) || (end_ && now >= *end_ - kReserve - kLastCall)) return StopStage::last_call;
  return closed_ ? StopStage::closed : StopStage::none;
}

TurnClock::TurnClock(const jobs::Grid& grid) : grid_(grid) {}

void TurnClock::set_end(Seconds now, Seconds end) {
  const std::lock_guard lock(mutex_);
  end_ = end;
  allowance_ = end - now;
}

void TurnClock::move_end(Seconds end) {
  const std::lock_guard lock(mutex_);
  end_ = end;
}

void TurnClock::saw_turn(const std::string& cell, Seconds took) {
  const std::lock_guard lock(mutex_);
  keep(recent_[cell].turns, took);
}

void TurnClock::saw_final_check(const std::string& cell, Seconds took) {
  const std::lock_guard lock(mutex_);
  keep(recent_[cell].final_checks, took);
}

Seconds TurnClock::timeouts(const jobs::CellSpec& cell) const {
  const auto& model = grid_.model(cell.model);
  const auto& check = grid_.check;
  const Seconds tools = check.compile_timeout + check.run_timeout * static_cast<double>(check.tool_trials);
  const Seconds final_check = check.compile_timeout + check.run_timeout * static_cast<double>(check.trials + 1);
  return (has_endpoint(model.api) ? model.request_timeout + model.retry_limit : Seconds(0)) + tools + final_check;
}

Seconds TurnClock::bound(const jobs::CellSpec& cell) const {
  const std::lock_guard lock(mutex_);
  const auto found = recent_.find(cell.id);
  const bool known = found != recent_.end() && !found->second.turns.empty();
  const Seconds expected =
      known ? kSlack * (longest(found->second.turns) + longest(found->second.final_checks)) : kFirstShare * allowance_;
  return std::min(expected, timeouts(cell));
}

bool TurnClock::fits(const jobs::CellSpec& cell, Seconds now) const {
  const auto needed = bound(cell);
  const std::lock_guard lock(mutex_);
  return !end_ || now + needed <= *end_ - kReserve;
}

}  // namespace nkigrid::runner
