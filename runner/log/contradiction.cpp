#include "runner/log/contradiction.hpp"

#include <cmath>

namespace nkigrid::log {
namespace {

bool is_verdict(std::int8_t flag) noexcept { return flag == 0 || flag == 1; }
bool is_check(std::int8_t flag) noexcept { return flag == kNotDone || is_verdict(flag); }

/// Outcomes that the check of a kernel gives: its code tells which.
bool is_of_a_kernel(Outcome outcome) noexcept { return outcome <= Outcome::mismatch || outcome == Outcome::cheat; }

std::string_view of_verdicts(const End& end) noexcept {
  if (!is_verdict(end.passed) || !is_verdict(end.strict_passed) || !is_verdict(end.best_passed) ||
      !is_verdict(end.best_strict_passed))
    return "a verdict that is neither 0 nor 1";
  if ((end.passed == 1) != (end.outcome == Outcome::pass)) return "passed and outcome";
  if (end.strict_passed > end.passed) return "strict_passed and passed";
  if (end.best_strict_passed > end.best_passed) return "best_strict_passed and best_passed";
  if (end.best_passed == 1 && !is_of_a_kernel(end.outcome)) return "best_passed and outcome";
  return {};
}

std::string_view of_diagnosis(const End& end) noexcept {
  if (end.code == Code::none) {
    if (end.stage != Stage::none) return "stage and code";
    if (end.line != 0) return "line and code";
    if (is_of_a_kernel(end.outcome) && end.outcome != Outcome::pass) return "outcome and code";
  } else if (end.outcome != outcome_of(end.code, end.stage)) {
    return "outcome and code";
  }
  return {};
}

std::string_view of_loop(const End& end) noexcept {
  if (is_scored(end.outcome) && end.ended_by == EndedBy::none) return "ended_by and outcome";
  if (end.outcome == Outcome::context_full && end.ended_by != EndedBy::context_full) return "ended_by and outcome";
  if (end.inherited_turns > end.turns) return "inherited_turns and turns";
  if (is_of_a_kernel(end.outcome) && end.turns == 0) return "turns and outcome";
  return {};
}

std::string_view of_numbers(const End& end) noexcept {
  const bool ran_nothing = is_scored(end.outcome) && !is_of_a_kernel(end.outcome);
  if (ran_nothing && !(std::isnan(end.max_abs_err) && std::isnan(end.rel_l2))) return "max_abs_err and outcome";
  if (ran_nothing && !std::isnan(end.estimate_us)) return "estimate_us and outcome";
  if (ran_nothing && end.trials != 0) return "trials and outcome";
  if (end.trials_passed > end.trials) return "trials_passed and trials";
  return {};
}

}  // namespace

std::string_view contradiction(const End& end) noexcept {
  for (const auto rule : {of_verdicts, of_diagnosis, of_loop, of_numbers}) {
    if (const auto found = rule(end); !found.empty()) return found;
  }
  return {};
}

std::string_view contradiction(std::int8_t compile_ok, std::int8_t verify_ok, Code code) noexcept {
  if (!is_check(compile_ok) || !is_check(verify_ok)) return "a check that is none of -1, 0 and 1";
  if ((compile_ok == 0 || verify_ok == 0) && code == Code::none) return "code and a check that failed";
  if (compile_ok == kNotDone && verify_ok == kNotDone && code != Code::none) return "code and no check";
  return {};
}

std::string_view contradiction(const Turn& turn) noexcept {
  if (const auto found = contradiction(turn.compile_ok, turn.verify_ok, turn.code); !found.empty()) return found;
  if (turn.code == Code::none && turn.stage != Stage::none) return "stage and code";
  if (turn.code == Code::none && turn.line != 0) return "line and code";
  const bool no_check = turn.compile_ok == kNotDone && turn.verify_ok == kNotDone;
  if (turn.event == TurnEvent::no_code && (turn.tool_calls > 0 || !no_check)) return "event and what was done";
  if (turn.event == TurnEvent::bad_tool_args && turn.tool_calls == 0) return "event and tool_calls";
  if (turn.verify_ok == kNotDone && !(std::isnan(turn.max_abs_err) && std::isnan(turn.rel_l2)))
    return "max_abs_err and verify_ok";
  if (turn.compile_ok == kNotDone && !std::isnan(turn.estimate_us)) return "estimate_us and compile_ok";
  return {};
}

std::string_view contradiction(const Record& record) noexcept {
  if (const auto* turn = std::get_if<Turn>(&record)) return contradiction(*turn);
  if (const auto* end = std::get_if<End>(&record)) return contradiction(*end);
  return {};
}

}  // namespace nkigrid::log
