#include "cli/wire_lines.hpp"

#include <nlohmann/json.hpp>

#include "jobs/base/text.hpp"
#include "runner/model/chat_json.hpp"
#include "runner/model/sent.hpp"

namespace nkigrid::cli {

std::string wire_lines(const Transcript& transcript) {
  std::string lines, request;
  for (const auto& turn : transcript.turns) {
    const auto reply = model::parse_reply(turn.reply.reply);
    request = reply.sent ? model::request_of(*reply.sent, request) : "";
    const nlohmann::ordered_json line = {
        {"turn", turn.reply.turn}, {"request", to_valid_utf8(request)}, {"response", to_valid_utf8(turn.reply.raw)}};
    lines += line.dump(-1, ' ', true) + '\n';
  }
  return lines;
}

}  // namespace nkigrid::cli
