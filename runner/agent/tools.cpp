#include "runner/agent/tools.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "jobs/base/text.hpp"
#include "runner/model/json_text.hpp"

namespace nkigrid::agent {
namespace {

constexpr std::int64_t kMostTrials = 5;

/// The arguments as an object; null when they are none.
nlohmann::json arguments_of(const std::string& text, DecodedCall& decoded) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    return nlohmann::json::object();  // a call without arguments
  nlohmann::json arguments = model::parse_json(model::mend_json(text).text);
  if (arguments.is_discarded()) {
    arguments = model::parse_json(model::relaxed_json(model::mend_json(text).text));
    decoded.mended = arguments.is_object();
  }
  if (arguments.is_null()) return nlohmann::json::object();
  if (arguments.is_string()) {
    const nlohmann::json inner = model::parse_json(arguments.get<std::string>());
    if (inner.is_object()) {
      decoded.peeled = true;
      return inner;
    }
  }
  return arguments.is_object() ? arguments : nlohmann::json();
}

void read_text(const nlohmann::json& arguments, const char* key, bool required, std::optional<std::string>& value,
               DecodedCall& decoded) {
  const auto it = arguments.find(key);
  if (it == arguments.end()) {
    if (required) decoded.problem = fmt::format("'{}' is missing (required: the whole Python file as a string)", key);
  } else if (it->is_string()) {
    value = it->get<std::string>();
  } else {
    decoded.problem = fmt::format("'{}' is a {} (legal: string)", key, it->type_name());
  }
}

void read_trials(const nlohmann::json& arguments, DecodedCall& decoded) {
  const auto it = arguments.find("trials");
  if (it == arguments.end()) return;
  const bool integral =
      it->is_number_integer() || (it->is_number_float() && std::floor(it->get<double>()) == it->get<double>());
  const double value = it->is_number() ? it->get<double>() : 0;
  if (!integral || value < 1 || value > kMostTrials) {
    decoded.problem = fmt::format("'trials' is {} (legal: an integer from 1 to {})", it->dump(), kMostTrials);
  } else {
    decoded.trials = static_cast<std::uint32_t>(value);
  }
}

void note_unknown(const nlohmann::json& arguments, std::initializer_list<std::string_view> known,
                  DecodedCall& decoded) {
  for (const auto& [key, value] : arguments.items()) {
    const bool is_known = std::find(known.begin(), known.end(), key) != known.end();
    if (!is_known) decoded.notes.push_back(fmt::format("unknown argument '{}' ignored", elide_middle(key, 64)));
  }
}

constexpr std::string_view kCompile = "compile_kernel", kVerify = "verify_kernel";

std::vector<std::string_view> names_of(const std::vector<model::ToolSpec>& tools) {
  std::vector<std::string_view> names;
  for (const auto& tool : tools) names.push_back(tool.name);
  return names;
}

Tool tool_of(std::string_view name, const std::vector<model::ToolSpec>& offered) {
  const bool is_offered =
      std::any_of(offered.begin(), offered.end(), [&](const auto& tool) { return tool.name == name; });
  if (!is_offered) return Tool::unknown;
  return name == kCompile ? Tool::compile : name == kVerify ? Tool::verify : Tool::unknown;
}

}  // namespace

std::vector<model::ToolSpec> tool_specs() {
  return {
      {std::string(kCompile), "Compiles a kernel file. The kernel that compiles is the current one.",
       R"({"type":"object","required":["kernel_source"],"properties":{)"
       R"("kernel_source":{"type":"string","description":"the whole Python file"},)"
       R"("entry":{"type":"string","description":"kernel function, if the file has several"}}})"},
      {std::string(kVerify),
       "Runs the current kernel on random inputs and compares its outputs with the PyTorch reference.",
       R"({"type":"object","required":[],"properties":{)"
       R"("trials":{"type":"integer","minimum":1,"maximum":5,"description":"default 3"},)"
       R"("entry":{"type":"string","description":"must be the compiled entry"}}})"},
  };
}

DecodedCall decode_call(const model::ToolCall& call, const std::vector<model::ToolSpec>& offered) {
  DecodedCall decoded;
  decoded.tool = tool_of(call.name, offered);
  if (decoded.tool == Tool::unknown) {
    decoded.problem = fmt::format("unknown tool '{}' (there are: {})", elide_middle(to_valid_utf8(call.name), 64),
                                  fmt::join(names_of(offered), ", "));
    return decoded;
  }
  const nlohmann::json arguments = arguments_of(call.arguments, decoded);
  if (!arguments.is_object()) {
    decoded.problem = "the arguments are no JSON object";
    return decoded;
  }
  read_text(arguments, "entry", false, decoded.entry, decoded);
  if (decoded.tool == Tool::compile) {
    std::optional<std::string> source;
    read_text(arguments, "kernel_source", true, source, decoded);
    decoded.source = source.value_or("");
    note_unknown(arguments, {"kernel_source", "entry"}, decoded);
  } else {
    read_trials(arguments, decoded);
    note_unknown(arguments, {"trials", "entry"}, decoded);
  }
  return decoded;
}

}  // namespace nkigrid::agent
