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

/// A duration or a price: what a sum over them may rest on.
bool is_amount(double value) noexcept { return std::isfinite(value) && value >= 0; }
/// An error or an estimate, where one was made: overflow makes an error infinite.
bool is_size(double value) noexcept { return std::isnan(value) || value >= 0; }

/// Beyond it a number of tokens is one below 0 that somebody wrote as if it had no sign.
constexpr std::uint64_t kMostTokens = 1'000'000'000'000;

std::string_view of_amounts(const End& end) noexcept {
  if (!is_amount(end.seconds)) return "seconds (0 or more are wanted)";
  if (!is_amount(end.started)) return "started (a time is wanted)";
  for (const auto tokens : {end.tokens_in, end.tokens_out, end.tokens_cached})
    if (tokens > kMostTokens) return "tokens (no attempt has so many)";
  if (!is_amount(end.cost_usd)) return "cost_usd (0 or more is wanted)";
  if (!is_size(end.max_abs_err) || !is_size(end.rel_l2)) return "an error below 0";
  if (!is_size(end.estimate_us)) return "an estimate below 0";
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
  for (const auto rule : {of_verdicts, of_diagnosis, of_loop, of_amounts, of_numbers}) {
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
  if (!is_amount(turn.compile_s) || !is_amount(turn.verify_s)) return "seconds (0 or more are wanted)";
  if (!is_size(turn.max_abs_err) || !is_size(turn.rel_l2)) return "an error below 0";
  if (!is_size(turn.estimate_us)) return "an estimate below 0";
  return {};
}

std::string_view contradiction(const Reply& reply) noexcept {
  if (!is_amount(reply.llm_s) || !is_amount(reply.wait_s)) return "seconds (0 or more are wanted)";
  return is_amount(reply.cost_usd) ? std::string_view() : "cost_usd (0 or more is wanted)";
}

std::string_view contradiction(const Record& record) noexcept {
  if (const auto* reply = std::get_if<Reply>(&record)) return contradiction(*reply);
  if (const auto* turn = std::get_if<Turn>(&record)) return contradiction(*turn);
  if (const auto* end = std::get_if<End>(&record)) return contradiction(*end);
  return {};
}

}  // namespace nkigrid::log
