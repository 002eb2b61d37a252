#include "runner/agent/reading.hpp"
#include "runner/agent/tools.hpp"
#include "tests/fuzz/targets.hpp"

namespace nkigrid::fuzz {

void extraction(std::string_view bytes) {
  model::ChatReply reply;
  reply.message.content = std::string(bytes);
  for (const auto finish : {model::Finish::stop, model::Finish::length}) {
    reply.finish = finish;
    const auto code = agent::read_reply(reply, {}, true);
    if (code.has_calls()) __builtin_trap();  // there are no tools
    const auto tools = agent::tool_specs(jobs::usual_tools());
    agent::read_reply(reply, tools, true);
    reply.message.tool_calls = {{"c1", tools.front().name, std::string(bytes)}};
    agent::read_reply(reply, tools, true);
    reply.message.tool_calls.clear();
  }
}

}  // namespace nkigrid::fuzz
