#pragma once

#include <string_view>
#include <vector>

#include "jobs/grid/grid.hpp"
#include "runner/agent/reading.hpp"
#include "runner/log/records.hpp"
#include "runner/model/chat.hpp"

namespace nkigrid::agent {

/// How the harness conducts an episode of one kind of mode. One row a kind, in modes.cpp; what a grid may say of a kind
/// stands in jobs/grid/modes.cpp.
struct ModeRules {
  jobs::ModeKind kind = jobs::ModeKind::single_shot;
  std::vector<model::ToolSpec> tools;  ///< offered with every request; without any, a reply's calls are dropped
  std::string_view task_text;          ///< ends the task message: how to answer
  /// Code of a reply without a call is answered with what the compiler or the verifier said of it; else with the nudge.
  bool answers_code = false;
  /// How the loop ends after a turn, but for refusals and the limit of turns; `none` when it goes on. Pure.
  EndedBy (*ends)(const jobs::ModeSpec& mode, const Reading& reading, const log::Turn& turn, bool nudged_before);
};

/// @throws Error{internal} for a kind without a row
const ModeRules& rules_of(jobs::ModeKind kind);

/// How the loop ends after a turn; `none` when it goes on. Pure, so that a taken-over episode ends where it would have.
/// @param nudged_before an earlier turn was answered with the nudge
EndedBy ends_after(const jobs::ModeSpec& mode, const Reading& reading, const log::Turn& turn, bool nudged_before);

}  // namespace nkigrid::agent
