#include "runner/end_watch.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nkigrid::runner {
namespace {

constexpr Seconds kAskEvery{60};
/// Between the question and the stage: an answer takes four seconds at most, and travels to the ranks.
constexpr Seconds kLead{8};
constexpr Seconds kLookEvery{1};
/// Answers come in whole seconds, and a while after the question: a smaller move is none.
constexpr double kTolerance = 5;

}  // namespace

EndWatch::EndWatch(jobs::EndQuestion question, std::optional<double> ends_at, const Clock& clock)
    : question_(std::move(question)),
      end_(question_.ask ? ends_at : std::nullopt),
      clock_(clock),
      asked_(clock.monotonic()),
      looked_(asked_) {}

std::optional<double> EndWatch::look(const TurnClock& turns, const std::vector<jobs::CellSpec>& cells) {
  const auto now = clock_.monotonic();
  if (!end_ || now - looked_ < kLookEvery) return std::nullopt;
  looked_ = now;
  if (const auto answer = question_.answer(); answer && std::abs(*answer - *end_) > kTolerance) {
    end_ = answer;
    stages_asked_ = 0;
    return end_;
  }
  Seconds longest{0};
  for (const auto& cell : cells) longest = std::max(longest, turns.bound(cell));
  if (is_due(Seconds(*end_ - clock_.unix_seconds()), longest)) {
    asked_ = now;
    question_.ask();
  }
  return std::nullopt;
}

bool EndWatch::is_due(Seconds left, Seconds longest_turn) {
  const auto last_call = kReserve + kLastCall;
  const int stages = left < last_call + kLead ? 2 : left < std::max(last_call, kReserve + longest_turn) + kLead ? 1 : 0;
  if (stages > stages_asked_) {
    stages_asked_ = stages;
    return true;
  }
  return clock_.monotonic() - asked_ >= kAskEvery;
}

}  // namespace nkigrid::runner
