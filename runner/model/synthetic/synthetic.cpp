#include "runner/model/synthetic/synthetic.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/model/synthetic/state.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

/// What one reply is made from.
struct Turn {
  const Profile& profile;
  const LevelProfile& level;
  const SyntheticKey& key;
  const SyntheticState& state;
  std::string_view known;
  std::size_t number;  ///< from 1
  bool tools;

  double chance(std::string_view what) const { return key.chance(what, number); }
  std::string kernel() const { return broken_kernel(known, state.planted); }
};

std::string_view find_task(const std::vector<Message>& messages) {
  constexpr std::string_view kMark = "Task: ";
  for (const Message& message : messages) {
    if (message.role != Role::user) continue;
    const std::string_view text = message.content;
    std::size_t at = text.starts_with(kMark) ? 0 : text.find("\nTask: ");
    if (at == std::string_view::npos) continue;
    at += text[at] == '\n' ? kMark.size() + 1 : kMark.size();
    std::string_view id = text.substr(at, text.find_first_of("\r\n", at) - at);
    while (id.ends_with(' ')) id.remove_suffix(1);
    return id;
  }
  return "";
}

template <std::size_t N>
std::string_view one_of(const Turn& turn, const std::array<std::string_view, N>& texts) {
  return texts[turn.key.bits("words", turn.number) % N];
}

/// What the reply says before its code.
std::string opening(const Turn& turn) {
  const SyntheticState& state = turn.state;
  if (turn.number == 1) {
    return std::string(one_of(
        turn, std::array<std::string_view, 3>{
                  "I tile the rows by the partition limit, load each tile to SBUF, compute there and store the result.",
                  "The plan: one loop over tiles of the partition axis, the arithmetic on chip, one store a tile.",
                  "Each tile is loaded once, worked on in SBUF or PSUM, and written to the output in HBM."}));
  }
  if (state.over_reacted) return "The compiler warns, so I change that part to be on the safe side.";
  if (!state.repaired.empty()) {
    std::string text = fmt::format("I see: {}", state.repaired.front()->slip);
    for (std::size_t i = 1; i < state.repaired.size(); ++i) text += fmt::format("; also, {}", state.repaired[i]->slip);
    return text + ". Here it is corrected.";
  }
  if (state.feedback.kind == Feedback::Kind::verify_failed)
    return "The numbers are off and I do not see why; I went through the tiling once more.";
  if (state.feedback.kind == Feedback::Kind::compile_failed)
    return "I am not sure what the compiler means; I went through the kernel once more.";
  return "Here is the kernel.";
}

std::string fenced(const Turn& turn) { return fmt::format("{}\n\n```python\n{}```\n", opening(turn), turn.kernel()); }

void call(ChatReply& reply, const Turn& turn, std::string_view name, std::string arguments) {
  const std::string id = fmt::format("call_{}_{}", turn.number, reply.message.tool_calls.size() + 1);
  reply.message.tool_calls.push_back({id, std::string(name), std::move(arguments)});
  reply.finish = Finish::tool_calls;
}

/// Arguments that do not fit: the source under another key, or the object wrapped in a string once more (which a
/// harness peels).
std::string bad_arguments(const Turn& turn) {
  if (turn.key.bits("bad arguments", turn.number) % 2 == 0) return Json{{"code", turn.kernel()}}.dump();
  return Json(Json{{"kernel_source", turn.kernel()}}.dump()).dump();
}

ChatReply tool_reply(const Turn& turn) {
  ChatReply reply;
  const Feedback& feedback = turn.state.feedback;
  if (feedback.kind == Feedback::Kind::verify_passed) {
    reply.message.content = "The kernel compiles and its output matches the reference in every trial. Done.";
    return reply;
  }
  if (feedback.kind == Feedback::Kind::compile_passed && !turn.state.over_reacted) {
    reply.message.content = "It compiles. Now its numbers.";
    call(reply, turn, "verify_kernel", "{}");
    return reply;
  }
  const bool failed = feedback.kind == Feedback::Kind::compile_failed || feedback.kind == Feedback::Kind::verify_failed;
  if (failed && turn.chance("give up") < turn.level.gives_up) {
    reply.message.content = fenced(turn) + "\nThis is the best I have.\n";
    return reply;
  }
  if (turn.chance("no code") < turn.level.no_code) {
    reply.message.content = opening(turn) + " I will write it out next.";
    return reply;
  }
  reply.message.content = opening(turn);
  std::string arguments = Json{{"kernel_source", turn.kernel()}}.dump();
  if (turn.chance("truncated") < turn.level.truncated) {
    arguments.resize(arguments.size() * 3 / 5);
    call(reply, turn, "compile_kernel", std::move(arguments));
    reply.finish = Finish::length;
    return reply;
  }
  if (turn.chance("bad arguments") < turn.level.bad_arguments) arguments = bad_arguments(turn);
  call(reply, turn, "compile_kernel", std::move(arguments));
  if (turn.chance("same reply") < turn.profile.same_reply) call(reply, turn, "verify_kernel", "{}");
  return reply;
}

ChatReply text_reply(const Turn& turn) {
  ChatReply reply;
  if (turn.chance("no code") < turn.level.no_code) {
    reply.message.content = opening(turn) + " The details follow from the shapes.";
    return reply;
  }
  reply.message.content = fenced(turn);
  if (turn.chance("truncated") < turn.level.truncated) {
    const std::size_t start = reply.message.content.find("```");
    reply.message.content.resize(start + (reply.message.content.size() - start) * 3 / 5);
    reply.finish = Finish::length;
  } else if (turn.chance("unclosed fence") < turn.level.unclosed_fence) {
    reply.message.content =
        fmt::format("{}\n\n```python\n{}\nThis kernel handles every tile, and stores each of them once.\n",
                    opening(turn), turn.kernel());
  } else {
    reply.message.content += "\nEvery element of the output is stored.\n";
  }
  return reply;
}

/// Four bytes a token, rounded up.
std::uint32_t tokens(std::size_t bytes) { return static_cast<std::uint32_t>((bytes + 3) / 4); }

std::size_t bytes_of(const Message& message) {
  std::size_t bytes = message.content.size();
  for (const ToolCall& call : message.tool_calls) bytes += call.name.size() + call.arguments.size();
  return bytes;
}

ChatReply finished(ChatReply reply, const ChatRequest& request) {
  std::size_t bytes = 0;
  for (const Message& message : request.messages) bytes += bytes_of(message);
  reply.message.role = Role::assistant;
  reply.usage.input = tokens(bytes);
  reply.usage.output = tokens(bytes_of(reply.message));
  reply.system_fingerprint = kSyntheticFingerprint;
  return reply;
}

}  // namespace

ChatReply synthetic_reply(const Profile& profile, const jobs::Benchmark& benchmark, const ChatRequest& request) {
  const std::string id(find_task(request.messages));
  if (id.empty()) {
    ChatReply reply;
    reply.message.content =
        "I find no line 'Task: <id>' in the conversation; this is the synthetic model of nkigrid, and it knows only "
        "its benchmark.";
    return finished(std::move(reply), request);
  }
  const jobs::Task* task = benchmark.find(id);
  const std::string known = task == nullptr ? "" : benchmark.known_kernel(id);
  if (known.empty()) {
    throw ChatError(ChatFailure::fatal,
                    fmt::format("the synthetic model knows no kernel of task '{}' (benchmark '{}'); add kernels/{}.py",
                                id, benchmark.name, id));
  }
  const LevelProfile& level = profile.level(task->level);
  const SyntheticKey key{profile.hash, request.seed ? std::to_string(*request.seed) : "none", id};
  const bool tools = !request.tools.empty();
  SyntheticState state = first_state(profile, level, key, known, tools);
  const std::vector<Exchange> past = exchanges_of(request.messages);
  for (std::size_t i = 0; i < past.size(); ++i) {
    take_feedback(profile, level, key, known, i + 1, feedback_of(past[i]), state);
  }
  const Turn turn{profile, level, key, state, known, past.size() + 1, tools};
  return finished(tools ? tool_reply(turn) : text_reply(turn), request);
}

}  // namespace nkigrid::model
