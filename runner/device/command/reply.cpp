#include "runner/device/command/reply.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"
#include "runner/device/shared/texts.hpp"

namespace nkigrid::device {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;

[[noreturn]] void refuse(std::string words) { throw Error(ErrorCode::external, std::move(words)); }

/// The value of a key; nothing when it is absent or null.
const json* find(const json& reply, const char* key) {
  const auto at = reply.find(key);
  return at == reply.end() || at->is_null() ? nullptr : &*at;
}

std::string text_of(const json& reply, const char* key) {
  const auto* value = find(reply, key);
  if (value == nullptr) return {};
  if (!value->is_string()) refuse(fmt::format("gave a reply whose '{}' is no text", key));
  return shown_text(value->get<std::string>());
}

std::uint32_t count_of(const json& reply, const char* key) {
  const auto* value = find(reply, key);
  if (value == nullptr) return 0;
  if (!value->is_number_unsigned() || value->get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max()) {
    refuse(fmt::format("gave a reply whose '{}' is no whole number of at least 0", key));
  }
  return value->get<std::uint32_t>();
}

std::vector<std::string> texts_of(const json& reply, const char* key) {
  std::vector<std::string> texts;
  const auto* value = find(reply, key);
  if (value == nullptr) return texts;
  if (!value->is_array()) refuse(fmt::format("gave a reply whose '{}' is no list of texts", key));
  for (const auto& item : *value) {
    if (!item.is_string()) refuse(fmt::format("gave a reply whose '{}' is no list of texts", key));
    if (texts.size() < kMostTexts) texts.push_back(shown_text(item.get<std::string>()));
  }
  return texts;
}

/// Which failures a step may tell. What decides a verdict (NUMERIC_MISMATCH) is never a program's to say.
bool may_answer(CommandStep step, Code code) {
  if (code == Code::infra || code == Code::rule_violation) return true;
  if (step == CommandStep::compile)
    return code == Code::compile_timeout || outcome_of(code, Stage::trace) == Outcome::compile_fail;
  return code == Code::oob || code == Code::capacity || code == Code::runtime_device ||
         code == Code::wrong_output_shape_dtype || code == Code::non_finite_uninit;
}

Diagnostic diagnostic_of(const json& reply, CommandStep step) {
  Diagnostic diagnostic;
  const auto word = text_of(reply, "code");
  const auto code = parse_code(word);
  if (word.empty()) refuse("gave a reply that has \"ok\": false and no 'code'");
  if (!code || !may_answer(step, *code)) {
    refuse(fmt::format("gave a reply whose code '{}' is none that {} may answer", elide_middle(word, 64),
                       step == CommandStep::compile ? "a compile" : "a run"));
  }
  diagnostic.code = *code;
  diagnostic.line = count_of(reply, "line");
  diagnostic.message = text_of(reply, "message");
  if (diagnostic.message.empty()) refuse("gave a reply that has \"ok\": false and no 'message'");
  const auto stage_word = text_of(reply, "stage");
  const auto stage = stage_word.empty() ? std::optional(Stage::trace) : parse_stage(stage_word);
  if (step == CommandStep::compile && (!stage || *stage == Stage::none || *stage > Stage::backend)) {
    refuse(fmt::format("gave a reply whose stage '{}' is none of parse, trace, backend", elide_middle(stage_word, 64)));
  }
  diagnostic.stage = step == CommandStep::compile ? *stage : Stage::run;
  if (*code == Code::infra) diagnostic.stage = Stage::infra;
  return diagnostic;
}

json tensors(const std::vector<jobs::TensorSpec>& specs, bool named) {
  auto list = json::array();
  for (const auto& spec : specs) {
    json item = {{"shape", spec.shape}, {"dtype", spec.dtype}, {"bytes", bytes_of(spec)}};
    if (named) item["name"] = spec.name;
    list.push_back(std::move(item));
  }
  return list;
}

json common(const jobs::NkiOptions& options, const jobs::Task& task, const char* op,
            const std::filesystem::path& scratch, Seconds timeout) {
  return {{"version", kVersion},
          {"op", op},
          {"task", task.id},
          {"scratch", scratch.native()},
          {"sdk", options.sdk},
          {"target", options.target},
          {"strict_paper_names", options.strict_paper_names},
          {"timeout_s", timeout.count()}};
}

std::string line_of(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace) + '\n'; }

}  // namespace

CommandReply parse_command_reply(std::string_view line, CommandStep step) {
  const auto reply = json::parse(line, nullptr, false);
  if (!reply.is_object())
    refuse(fmt::format("gave a reply that is no JSON object: '{}'", elide_middle(to_valid_utf8(line), 200)));
  const auto* ok = find(reply, "ok");
  if (ok == nullptr || !ok->is_boolean()) refuse("gave a reply that has no 'ok' that is true or false");
  CommandReply out;
  out.ok = ok->get<bool>();
  for (auto& warning : texts_of(reply, "warnings")) out.warnings.push_back(as_warning(std::move(warning)));
  out.hints = texts_of(reply, "hints");
  if (!out.ok) {
    out.diagnostic = diagnostic_of(reply, step);
    return out;
  }
  if (step == CommandStep::run) return out;
  out.artifact = text_of(reply, "artifact");
  if (out.artifact.empty()) refuse("gave a reply that has \"ok\": true and no 'artifact'");
  out.entry = text_of(reply, "entry");
  out.constant_bytes = count_of(reply, "constant_bytes");
  if (const auto* estimate = find(reply, "estimate_us")) {
    if (!estimate->is_number() || !std::isfinite(estimate->get<double>()) || estimate->get<double>() < 0) {
      refuse("gave a reply whose 'estimate_us' is no number of at least 0");
    }
    out.estimate_us = estimate->get<double>();
  }
  return out;
}

std::string to_line(const CompileRequest& request) {
  auto out = common(request.options, request.task, "compile", request.scratch, request.timeout);
  out["source"] = request.source.native();
  out["entry"] = request.entry ? json(*request.entry) : json();
  out["inputs"] = tensors(request.task.inputs, true);
  out["outputs"] = tensors(request.task.outputs, false);
  return line_of(out);
}

std::string to_line(const RunRequest& request) {
  auto out = common(request.options, request.task, "run", request.scratch, request.timeout);
  out["artifact"] = request.artifact.native();
  out["entry"] = request.entry;
  out["poison"] = {{"float32_bits", request.poison.nan_bits}, {"integer_byte", request.poison.int_byte}};
  out["inputs"] = tensors(request.task.inputs, true);
  for (std::size_t i = 0; i < request.places.size(); ++i) {
    auto& input = out["inputs"].at(i);
    input["file"] = request.inputs.native();
    input["offset"] = request.places[i].offset;
    input["bytes"] = request.places[i].bytes;
  }
  out["outputs"] = tensors(request.task.outputs, false);
  for (std::size_t i = 0; i < request.outputs.size(); ++i) out["outputs"].at(i)["file"] = request.outputs[i].native();
  return line_of(out);
}

}  // namespace nkigrid::device
