#include "runner/agent/calls.hpp"

#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "runner/agent/answers.hpp"
#include "runner/agent/doc_answers.hpp"
#include "runner/agent/kernel_steps.hpp"
#include "runner/agent/modes.hpp"
#include "runner/agent/told.hpp"
#include "runner/agent/tools.hpp"
#include "runner/model/json_text.hpp"

namespace nkigrid::agent {
namespace {

constexpr std::string_view kCutCall = "not run: the reply was cut off at its token limit; send the call again, shorter";
constexpr std::string_view kAfterPass = "not run: the kernel has passed verification";
constexpr std::string_view kNoKernel = "no compiled kernel";
constexpr std::string_view kNoProfile = "this device has no profiles; only the simulator estimates";

class CallRunner {
 public:
  CallRunner(Session& session, log::Turn& turn, std::vector<std::string>& flags)
      : session_(session), talk_(session.talk), tools_(tools_of(session.job.mode)), turn_(turn), flags_(flags) {}

  model::Message answer(const model::ToolCall& call, bool truncated) {
    if (truncated && !is_whole(call)) return error(call, kCutCall);
    if (passed_ && session_.job.mode.stop_on_pass) return error(call, kAfterPass);
    DecodedCall decoded = decode_call(call, tools_);
    if (!decoded.problem.empty() && truncated) return error(call, kCutCall);
    if (!decoded.problem.empty()) {
      turn_.event = TurnEvent::bad_tool_args;
      return error(call, decoded.problem);
    }
    if (decoded.peeled) flags_.emplace_back("args_peeled=1");
    if (decoded.mended) flags_.emplace_back("args_mended=1");
    if (!decoded.notes.empty()) flags_.push_back(fmt::format("unknown_args={}", decoded.notes.size()));
    switch (*decoded.tool) {
      case jobs::Tool::compile:
        return compile(call, decoded);
      case jobs::Tool::verify:
        return verify(call, decoded);
      case jobs::Tool::profile:
        return profile(call, decoded);
      case jobs::Tool::read_docs:
        return read_docs(call, decoded);
    }
    throw Error(ErrorCode::internal, "a tool has nobody to run it");
  }

 private:
  /// Of a reply that was cut: the call before the cut is there to the last brace, and some servers call every reply
  /// cut.
  static bool is_whole(const model::ToolCall& call) { return model::parse_json(call.arguments).is_object(); }

  static model::Message error(const model::ToolCall& call, std::string_view problem) {
    return {model::Role::tool, error_answer(std::string(problem)), {}, call.id, true};
  }

  model::Message compile(const model::ToolCall& call, DecodedCall& decoded) {
    Submission submission{std::move(decoded.source), std::move(decoded.entry), ++talk_.submissions, std::nullopt};
    turn_.kernel = submission.source;
    if (note_source(talk_, submission.source)) flags_.emplace_back("same_kernel=1");
    compile_submission(session_, submission, turn_);
    const device::CompileResult result = told(*submission.compiled, session_.job.mode.tools.diagnostics);
    model::Message message{
        model::Role::tool, compile_answer(result, submission.number, decoded.notes), {}, call.id, false};
    talk_.current.reset();
    if (result.ok()) talk_.current = submission;
    talk_.newest = std::move(submission);
    return message;
  }

  /// The current kernel's artifact; after a takeover it is compiled again, which is no turn and leaves no trace in its
  /// row.
  bool have_artifact() {
    if (!talk_.current) return false;
    if (!talk_.current->compiled) {
      log::Turn unrecorded;
      compile_submission(session_, *talk_.current, unrecorded);
    }
    return talk_.current->compiled->ok();
  }

  /// Why the current kernel cannot be looked at; "": it can.
  std::string fault_of_current(const DecodedCall& decoded) {
    if (!have_artifact()) return std::string(kNoKernel);
    const std::string& entry = talk_.current->compiled->artifact->entry;
    if (!decoded.entry || *decoded.entry == entry) return "";
    return fmt::format("entry '{}' is not the compiled one ('{}'); compile it first", *decoded.entry, entry);
  }

  model::Message verify(const model::ToolCall& call, const DecodedCall& decoded) {
    if (const auto fault = fault_of_current(decoded); !fault.empty()) return error(call, fault);
    const Submission& current = *talk_.current;
    const auto trials = decoded.trials.value_or(session_.job.grid.check.tool_trials);
    const device::VerifyResult result =
        told(verify_submission(session_, current, trials, turn_), session_.job.mode.tools.diagnostics);
    passed_ = passed_ || result.paper_ok;
    return {model::Role::tool, verify_answer(result, current.number, decoded.notes), {}, call.id, false};
  }

  model::Message profile(const model::ToolCall& call, const DecodedCall& decoded) {
    if (const auto fault = fault_of_current(decoded); !fault.empty()) return error(call, fault);
    const Submission& current = *talk_.current;
    const auto found = session_.device.profile(*current.compiled->artifact);
    if (!found) return error(call, kNoProfile);
    return {model::Role::tool, profile_answer(*found, current.number, decoded.notes), {}, call.id, false};
  }

  model::Message read_docs(const model::ToolCall& call, const DecodedCall& decoded) const {
    const auto& pages = session_.job.mode.tools.pages;
    if (!decoded.file) return {model::Role::tool, list_answer(pages, decoded.notes), {}, call.id, false};
    const auto* page = find_page(pages, *decoded.file);
    if (page == nullptr) return error(call, unknown_page(pages, *decoded.file));
    return {model::Role::tool, page_answer(*page, decoded.line, decoded.notes), {}, call.id, false};
  }

  Session& session_;
  Conversation& talk_;
  std::vector<model::ToolSpec> tools_;
  log::Turn& turn_;
  std::vector<std::string>& flags_;
  bool passed_ = false;
};

}  // namespace

std::vector<model::Message> run_calls(Session& session, const Reading& reading, log::Turn& turn,
                                      std::vector<std::string>& flags) {
  CallRunner runner(session, turn, flags);
  turn.tool_calls = static_cast<std::uint32_t>(reading.message.tool_calls.size());
  std::vector<model::Message> answers;
  for (const model::ToolCall& call : reading.message.tool_calls)
    answers.push_back(runner.answer(call, reading.truncated));
  return answers;
}

}  // namespace nkigrid::agent
