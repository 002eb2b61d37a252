#include "runner/agent/reread.hpp"

#include <fmt/format.h>

#include "jobs/base/hash.hpp"
#include "runner/agent/modes.hpp"
#include "runner/agent/reading.hpp"
#include "runner/agent/tools.hpp"
#include "runner/model/chat_json.hpp"
#include "runner/model/wire/wire.hpp"

namespace nkigrid::agent {
namespace {

/// What a turn came to, as far as a reader decides it.
struct Effect {
  TurnEvent event = TurnEvent::ok;
  std::size_t calls = 0;
  std::string kernel;  ///< the newest that was submitted

  std::string words() const {
    std::string text = calls > 0 ? fmt::format("{} call{}", calls, calls == 1 ? "" : "s") : "";
    if (!kernel.empty()) {
      text += calls > 0 ? ", kernel " : "code ";
      text += sha256_hex(kernel).substr(0, 8);
    }
    if (event != TurnEvent::ok) text += (text.empty() ? "" : ", ") + std::string(to_string(event));
    return text.empty() ? "nothing" : text;
  }
};

Effect effect_then(const log::Turn& turn) { return {turn.event, turn.tool_calls, turn.kernel}; }

/// @param then what was run: of several kernels of a reply it is the one that counts, as a pass may have ended the turn
Effect effect_now(const Reading& reading, const std::vector<model::ToolSpec>& tools, const std::string& then) {
  Effect effect{.event = event_of(reading), .calls = reading.message.tool_calls.size(), .kernel = {}};
  for (const auto& call : reading.message.tool_calls) {
    DecodedCall decoded = decode_call(call, tools);
    if (!decoded.problem.empty() && effect.event == TurnEvent::ok) effect.event = TurnEvent::bad_tool_args;
    if (!decoded.problem.empty() || decoded.source.empty()) continue;
    if (effect.kernel.empty() || effect.kernel != then) effect.kernel = std::move(decoded.source);
  }
  if (reading.code) effect.kernel = *reading.code;
  return effect;
}

/// From the server's bytes where there are any. What no longer reads as a reply was read from what is kept of it.
model::ChatReply reply_again(const log::Reply& logged, const jobs::ModelSpec& model) {
  const model::ChatReply kept = model::parse_reply(logged.reply);
  if (logged.raw.empty()) return kept;
  try {
    return model::read_again(logged.raw, model).value_or(kept);
  } catch (const Error&) {
    return kept;
  }
}

}  // namespace

RereadReply reread(const log::LoggedTurn& turn, const jobs::ModelSpec& model, const jobs::ModeSpec& mode) {
  const auto tools = tools_of(mode);
  const Reading reading = read_reply(reply_again(turn.reply, model), tools, model.call_recovery);
  const std::string now = effect_now(reading, tools, turn.turn ? turn.turn->kernel : "").words();
  return {turn.turn ? effect_then(*turn.turn).words() : now, now, !turn.reply.raw.empty()};
}

}  // namespace nkigrid::agent
