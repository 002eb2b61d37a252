#include "runner/device/shared/compile_frames.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "jobs/base/text.hpp"
#include "runner/device/shared/texts.hpp"

namespace nkigrid::device {
namespace {

using nlohmann::json;

constexpr std::size_t kMostDoubtBytes = 300;

/// The code a child may claim: one of the compiler's. A verdict of the machinery is not its to give.
Code believable(const std::string& word) {
  const auto code = parse_code(word);
  if (!code || *code == Code::none || *code == Code::infra || *code == Code::rule_violation)
    return Code::compiler_internal;
  return outcome_of(*code, Stage::trace) == Outcome::compile_fail ? *code : Code::compiler_internal;
}

Stage believable_stage(const std::string& word) {
  const auto stage = parse_stage(word).value_or(Stage::none);
  return stage == Stage::none || stage > Stage::backend ? Stage::trace : stage;
}

}  // namespace

std::string compile_head(const jobs::NkiOptions& options, const jobs::Task& task,
                         const std::optional<std::string>& entry) {
  json head = {{"entry", entry ? json(*entry) : json()},
               {"params", json::array()},
               {"outputs", json::array()},
               {"options",
                {{"sdk", options.sdk},
                 {"target", options.target},
                 {"strict_paper_names", options.strict_paper_names},
                 {"strict", options.strict}}}};
  for (const auto& input : task.inputs)
    head["params"].push_back({{"name", input.name}, {"shape", input.shape}, {"dtype", input.dtype}});
  for (const auto& output : task.outputs) head["outputs"].push_back({{"shape", output.shape}, {"dtype", output.dtype}});
  return head.dump(-1, ' ', false, json::error_handler_t::replace);
}

CompileReply parse_compile_reply(proc::Frame frame) {
  const auto head = json::parse(frame.head);
  CompileReply reply;
  reply.ok = head.at("ok");
  reply.entry = to_valid_utf8(head.at("entry").get<std::string>());
  reply.doubt = elide_middle(to_valid_utf8(head.value("doubt", std::string())), kMostDoubtBytes);
  for (const auto& warning : head.at("warnings")) {
    if (reply.warnings.size() == kMostTexts) break;
    reply.warnings.push_back(as_warning(shown_text(warning.get<std::string>())));
  }
  if (reply.ok) {
    reply.artifact = std::move(frame.body);
    return reply;
  }
  reply.diagnostic = {believable(head.at("code")), believable_stage(head.at("stage")), head.at("line"),
                      shown_text(head.at("message").get<std::string>())};
  return reply;
}

}  // namespace nkigrid::device
