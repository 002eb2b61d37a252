#include "runner/agent/modes.hpp"

#include <algorithm>
#include <array>

#include "jobs/base/error.hpp"
#include "runner/agent/tools.hpp"

namespace nkigrid::agent {
namespace {

constexpr std::string_view kAnswerWithTools =
    "\nTools: call `compile_kernel` with the whole file in `kernel_source`; when it compiles, call `verify_kernel`. "
    "Read what they\n"
    "answer, correct the kernel and call again until it verifies. The newest kernel that you submit is the one that "
    "counts.\n";

constexpr std::string_view kAnswerWithCompiler =
    "\nTools: call `compile_kernel` with the whole file in `kernel_source`. Read what it answers, correct the kernel "
    "and call again\n"
    "until it compiles and you are sure of it. The newest kernel that you submit is the one that counts.\n";

constexpr std::string_view kProfileToo = "`profile_kernel` says where the current kernel's time would go.\n";
constexpr std::string_view kDocsToo = "`read_docs` shows documentation; without arguments it lists the files.\n";

constexpr std::string_view kAnswerWithText = "\nAnswer with the whole file in one Python code block.\n";

EndedBy at_once(const jobs::ModeSpec&, const Reading&, const log::Turn&, bool) { return EndedBy::turns; }

/// When the feedback that the model would get is good.
EndedBy on_good_code(const jobs::ModeSpec& mode, const Reading&, const log::Turn& turn, bool) {
  if (mode.feedback_verify) return turn.verify_ok == 1 ? EndedBy::verified : EndedBy::none;
  return turn.compile_ok == 1 ? EndedBy::compiled : EndedBy::none;
}

/// When a kernel has passed, or the model neither calls a tool nor shows code any more, after one nudge.
EndedBy on_pass_or_silence(const jobs::ModeSpec& mode, const Reading& reading, const log::Turn& turn,
                           bool nudged_before) {
  const bool passed = turn.verify_ok == 1;
  if (mode.stop_on_pass && passed) return EndedBy::verified;
  // A cut reply never ends an episode while turns are left.
  if (reading.has_calls() || reading.truncated) return EndedBy::none;
  const bool done = reading.code ? passed : nudged_before;
  return done ? EndedBy::stopped : EndedBy::none;
}

}  // namespace

const ModeRules& rules_of(jobs::ModeKind kind) {
  using enum jobs::ModeKind;
  static const std::array kRules = {
      ModeRules{single_shot, CodeAnswer::none, at_once},
      ModeRules{multi_turn, CodeAnswer::feedback, on_good_code},
      ModeRules{tool_agent, CodeAnswer::as_calls, on_pass_or_silence},
  };
  const auto found = std::find_if(kRules.begin(), kRules.end(), [&](const auto& rules) { return rules.kind == kind; });
  if (found == kRules.end()) throw Error(ErrorCode::internal, "a kind of mode has no rules");
  return *found;
}

std::vector<model::ToolSpec> tools_of(const jobs::ModeSpec& mode) { return tool_specs(mode.tools.offer); }

std::string answer_text(const jobs::ModeSpec& mode) {
  const auto& tools = mode.tools;
  if (tools.offer.empty()) return std::string(kAnswerWithText);
  std::string text(tools.offers(jobs::Tool::verify) ? kAnswerWithTools : kAnswerWithCompiler);
  if (tools.offers(jobs::Tool::profile)) text += kProfileToo;
  if (tools.offers(jobs::Tool::read_docs)) text += kDocsToo;
  return text;
}

EndedBy ends_after(const jobs::ModeSpec& mode, const Reading& reading, const log::Turn& turn, bool nudged_before) {
  if (turn.event == TurnEvent::refused) return EndedBy::refused;
  const auto ended = rules_of(mode.kind).ends(mode, reading, turn, nudged_before);
  if (ended != EndedBy::none) return ended;
  return turn.turn >= mode.turns ? EndedBy::turns : EndedBy::none;
}

}  // namespace nkigrid::agent
