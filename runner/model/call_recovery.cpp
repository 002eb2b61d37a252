#include "runner/model/call_recovery.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "jobs/base/text.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;
constexpr std::string_view kFunction = "<function=", kFunctionEnd = "</function>";
constexpr std::string_view kParameter = "<parameter=", kParameterEnd = "</parameter>";

std::string_view without_outer_newlines(std::string_view text) {
  if (text.starts_with('\n')) text.remove_prefix(1);
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

Json value_of(const ToolSpec& tool, const std::string& key, std::string_view text) {
  const Json schema = Json::parse(tool.parameters, nullptr, false);
  const Json properties = schema.is_object() ? schema.value("properties", Json::object()) : Json::object();
  if (properties.value(key, Json::object()).value("type", "") == "integer") {
    long long number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return number;
  }
  return to_valid_utf8(text);
}

/// One call from its text between `<function=` and its end. A source may hold look-alikes of every tag, so a parameter
/// ends at the last `</parameter>` before the next parameter or the function's end.
std::optional<ToolCall> parse_call(std::string_view text, const std::vector<ToolSpec>& tools) {
  const std::size_t name_end = text.find('>');
  if (name_end == std::string_view::npos) return std::nullopt;
  ToolCall call;
  call.name = std::string(text.substr(0, name_end));
  const auto tool =
      std::find_if(tools.begin(), tools.end(), [&](const ToolSpec& spec) { return spec.name == call.name; });
  if (tool == tools.end()) return std::nullopt;
  Json arguments = Json::object();
  std::size_t at = text.find(kParameter, name_end);
  while (at != std::string_view::npos) {
    const std::size_t key_end = text.find('>', at);
    if (key_end == std::string_view::npos) return std::nullopt;
    const std::string key = to_valid_utf8(text.substr(at + kParameter.size(), key_end - at - kParameter.size()));
    const std::size_t next = text.find(std::string("\n") + std::string(kParameter), key_end);
    const std::size_t end = text.rfind(kParameterEnd, next);
    if (end == std::string_view::npos || end < key_end) return std::nullopt;
    arguments[key] = value_of(*tool, key, without_outer_newlines(text.substr(key_end + 1, end - key_end - 1)));
    at = next == std::string_view::npos ? next : next + 1;
  }
  call.arguments = arguments.dump();
  return call;
}

}  // namespace

std::size_t recover_text_calls(Message& message, const std::vector<ToolSpec>& tools) {
  if (!message.tool_calls.empty()) return 0;
  const std::string_view text = message.content;
  const std::size_t first = text.find(kFunction);
  std::vector<ToolCall> calls;
  for (std::size_t at = first; at != std::string_view::npos;) {
    const std::size_t next = text.find(std::string("\n") + std::string(kFunction), at + 1);
    const std::size_t end = text.rfind(kFunctionEnd, next);
    if (end == std::string_view::npos || end < at) break;
    if (auto call = parse_call(text.substr(at + kFunction.size(), end - at - kFunction.size()), tools)) {
      call->id = fmt::format("text_call_{}", calls.size() + 1);
      calls.push_back(std::move(*call));
    }
    at = next == std::string_view::npos ? next : next + 1;
  }
  if (calls.empty()) return 0;
  std::string_view before = text.substr(0, first);
  for (const std::string_view tag : {"<tool_call>"}) {
    if (const auto cut = before.rfind(tag); cut != std::string_view::npos) before = before.substr(0, cut);
  }
  while (!before.empty() && (before.back() == '\n' || before.back() == ' ')) before.remove_suffix(1);
  message.content = std::string(before);
  message.tool_calls = std::move(calls);
  return message.tool_calls.size();
}

}  // namespace nkigrid::model
