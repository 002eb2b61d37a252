#pragma once

#include <string>
#include <vector>

#include "jobs/grid/grid.hpp"
#include "runner/agent/reading.hpp"
#include "runner/log/records.hpp"
#include "runner/model/chat.hpp"

namespace nkigrid::agent {

/// What answers code of a reply without a call while the episode goes on.
enum class CodeAnswer {
  none,      ///< it never goes on
  feedback,  ///< what the compiler said of it, or the verifier
  as_calls   ///< what compile_kernel and verify_kernel say of it: it is submitted as calls would have submitted it
};

/// How the harness conducts an episode of one kind of mode. One row a kind, in modes.cpp; what a grid may say of a kind
/// stands in jobs/grid/modes.cpp.
struct ModeRules {
  jobs::ModeKind kind = jobs::ModeKind::single_shot;
  CodeAnswer code_answer = CodeAnswer::none;
  /// How the loop ends after a turn, but for refusals and the limit of turns; `none` when it goes on. Pure.
  EndedBy (*ends)(const jobs::ModeSpec& mode, const Reading& reading, const log::Turn& turn, bool nudged_before);
};

/// @throws Error{internal} for a kind without a row
const ModeRules& rules_of(jobs::ModeKind kind);

/// What is offered with every request; without any, a reply's calls are dropped.
std::vector<model::ToolSpec> tools_of(const jobs::ModeSpec& mode);

/// Ends the task message: how to answer.
std::string answer_text(const jobs::ModeSpec& mode);

/// How the loop ends after a turn; `none` when it goes on. Pure, so that a taken-over episode ends where it would have.
/// @param nudged_before an earlier turn was answered with the nudge
EndedBy ends_after(const jobs::ModeSpec& mode, const Reading& reading, const log::Turn& turn, bool nudged_before);

}  // namespace nkigrid::agent
