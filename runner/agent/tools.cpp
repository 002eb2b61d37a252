#include "runner/agent/tools.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"
#include "runner/agent/fences.hpp"
#include "runner/model/json_text.hpp"

namespace nkigrid::agent {
namespace {

constexpr std::int64_t kMostTrials = 5, kMostLine = 1'000'000'000;

/// A call that was written as the arguments of itself: {"name": ..., "arguments": {...}}.
void unwrap(nlohmann::json& arguments, DecodedCall& decoded) {
  for (const char* key : {"arguments", "parameters", "input"}) {
    const auto inner = arguments.find(key);
    if (inner == arguments.end() || !inner->is_object()) continue;
    const std::size_t others = arguments.contains("name") + arguments.contains("type") + arguments.contains("id");
    if (arguments.size() != 1 + others) return;
    arguments = nlohmann::json(*inner);
    decoded.peeled = true;
    return;
  }
}

/// The arguments as an object; null when they are none.
nlohmann::json arguments_of(const std::string& text, DecodedCall& decoded) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    return nlohmann::json::object();  // a call without arguments
  const std::string whole = model::mend_json(text).text;
  nlohmann::json arguments = model::parse_json(whole);
  if (arguments.is_discarded()) {
    if (model::parse_json(model::relaxed_json(whole)).is_null()) return nlohmann::json::object();
    arguments = model::mended_object(whole);
    decoded.mended = arguments.is_object();
    if (!decoded.mended) return {};
  }
  if (arguments.is_null()) return nlohmann::json::object();
  if (arguments.is_string()) {
    const auto inside = arguments.get<std::string>();
    nlohmann::json inner = model::parse_json(inside);
    if (inner.is_discarded()) inner = model::mended_object(inside);
    decoded.peeled = inner.is_object();
    arguments = std::move(inner);
  }
  if (arguments.is_object()) unwrap(arguments, decoded);
  return arguments.is_object() ? arguments : nlohmann::json();
}

void read_text(const nlohmann::json& arguments, const char* key, bool required, std::optional<std::string>& value,
               DecodedCall& decoded) {
  const auto it = arguments.find(key);
  if (it == arguments.end() || (!required && it->is_null())) {
    if (required) decoded.problem = fmt::format("'{}' is missing (required: the whole Python file as a string)", key);
  } else if (it->is_string()) {
    value = it->get<std::string>();
  } else {
    decoded.problem = fmt::format("'{}' is a {} (legal: string)", key, it->type_name());
  }
}

std::optional<std::uint32_t> read_count(const nlohmann::json& arguments, const char* key, std::int64_t most,
                                        DecodedCall& decoded) {
  const auto it = arguments.find(key);
  if (it == arguments.end() || it->is_null()) return std::nullopt;
  const bool integral =
      it->is_number_integer() || (it->is_number_float() && std::floor(it->get<double>()) == it->get<double>());
  const double value = it->is_number() ? it->get<double>() : 0;
  if (integral && value >= 1 && value <= static_cast<double>(most)) return static_cast<std::uint32_t>(value);
  decoded.problem = fmt::format("'{}' is {} (legal: an integer from 1 to {})", key, it->dump(), most);
  return std::nullopt;
}

void note_unknown(const nlohmann::json& arguments, std::initializer_list<std::string_view> known,
                  DecodedCall& decoded) {
  for (const auto& [key, value] : arguments.items()) {
    const bool is_known = std::find(known.begin(), known.end(), key) != known.end();
    if (!is_known) decoded.notes.push_back(fmt::format("unknown argument '{}' ignored", elide_middle(key, 64)));
  }
}

std::vector<std::string_view> names_of(const std::vector<model::ToolSpec>& tools) {
  std::vector<std::string_view> names;
  for (const auto& tool : tools) names.push_back(tool.name);
  return names;
}

constexpr std::array kTools = {jobs::Tool::compile, jobs::Tool::verify, jobs::Tool::profile, jobs::Tool::read_docs};

std::optional<jobs::Tool> tool_of(std::string_view name, const std::vector<model::ToolSpec>& offered) {
  const bool is_offered =
      std::any_of(offered.begin(), offered.end(), [&](const auto& tool) { return tool.name == name; });
  const auto at = std::find_if(kTools.begin(), kTools.end(), [&](auto tool) { return name_of(tool) == name; });
  return is_offered && at != kTools.end() ? std::optional(*at) : std::nullopt;
}

model::ToolSpec spec_of(jobs::Tool tool) {
  const std::string name(name_of(tool));
  switch (tool) {
    case jobs::Tool::compile:
      return {name, "Compiles a kernel file. The kernel that compiles is the current one.",
              R"({"type":"object","required":["kernel_source"],"properties":{)"
              R"("kernel_source":{"type":"string","description":"the whole Python file"},)"
              R"("entry":{"type":"string","description":"kernel function, if the file has several"}}})"};
    case jobs::Tool::verify:
      return {name, "Runs the current kernel on random inputs and compares its outputs with the PyTorch reference.",
              R"({"type":"object","required":[],"properties":{)"
              R"("trials":{"type":"integer","minimum":1,"maximum":5,"description":"default 3"},)"
              R"("entry":{"type":"string","description":"must be the compiled entry"}}})"};
    case jobs::Tool::profile:
      return {
          name,
          "Estimates where the current kernel's time goes on one NeuronCore: what binds it, each engine's busy time, "
          "bytes moved, the lines that take longest and the begin of the timeline. Correctness is not looked at.",
          R"({"type":"object","required":[],"properties":{)"
          R"("entry":{"type":"string","description":"must be the compiled entry"}}})"};
    case jobs::Tool::read_docs:
      return {name, "Reads the documentation: without a file the list of files, else a file's text from a line on.",
              R"({"type":"object","required":[],"properties":{)"
              R"("file":{"type":"string","description":"as the list names it"},)"
              R"("line":{"type":"integer","minimum":1,"description":"the first line, default 1"}}})"};
  }
  throw Error(ErrorCode::internal, "a tool has no schema");
}

/// The code in a source that is one fenced block of Markdown: marks of a fence are no Python.
std::optional<std::string> out_of_fence(const std::string& source) {
  const auto first = source.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || !source.substr(first).starts_with("```")) return std::nullopt;
  auto fences = fences_of(source);
  if (fences.size() != 1 || !is_python_tag(fences[0].tag)) return std::nullopt;
  return std::move(fences[0].text);
}

/// What a tool takes beside what all know. Whether it is missing or of a wrong kind is the call's problem.
void read_arguments(const nlohmann::json& arguments, DecodedCall& decoded) {
  if (decoded.tool != jobs::Tool::read_docs) read_text(arguments, "entry", false, decoded.entry, decoded);
  switch (*decoded.tool) {
    case jobs::Tool::compile: {
      std::optional<std::string> source;
      read_text(arguments, "kernel_source", true, source, decoded);
      decoded.source = source.value_or("");
      if (auto bare = out_of_fence(decoded.source)) {
        decoded.source = std::move(*bare);
        decoded.mended = true;
      }
      return note_unknown(arguments, {"kernel_source", "entry"}, decoded);
    }
    case jobs::Tool::verify:
      decoded.trials = read_count(arguments, "trials", kMostTrials, decoded);
      return note_unknown(arguments, {"trials", "entry"}, decoded);
    case jobs::Tool::profile:
      return note_unknown(arguments, {"entry"}, decoded);
    case jobs::Tool::read_docs:
      read_text(arguments, "file", false, decoded.file, decoded);
      decoded.line = read_count(arguments, "line", kMostLine, decoded).value_or(1);
      return note_unknown(arguments, {"file", "line"}, decoded);
  }
}

}  // namespace

std::vector<model::ToolSpec> tool_specs(const std::vector<jobs::Tool>& offer) {
  std::vector<model::ToolSpec> specs;
  for (const auto tool : offer) specs.push_back(spec_of(tool));
  return specs;
}

DecodedCall decode_call(const model::ToolCall& call, const std::vector<model::ToolSpec>& offered) {
  DecodedCall decoded;
  decoded.tool = tool_of(call.name, offered);
  if (!decoded.tool) {
    decoded.problem = fmt::format("unknown tool '{}' (there are: {})", elide_middle(to_valid_utf8(call.name), 64),
                                  fmt::join(names_of(offered), ", "));
    return decoded;
  }
  const nlohmann::json arguments = arguments_of(call.arguments, decoded);
  if (!arguments.is_object()) {
    decoded.problem = "the arguments are no JSON object";
    return decoded;
  }
  read_arguments(arguments, decoded);
  return decoded;
}

}  // namespace nkigrid::agent
